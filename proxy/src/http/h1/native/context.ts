import type { FrontContext } from "../context.ts";
import type { ChunkedRules } from "../../../http1/chunked-decoder.ts";
import { type HeadLimits, RequestHeadParser } from "./request-head-parser.ts";

/** What the connections of a front share. */
export type CodecContext = {
  readonly front: FrontContext;
  readonly parsers: HeadParsers;
  readonly chunkedRules: ChunkedRules;
};

/** Parsers of heads: most heads arrive in one piece, so that one parser serves all connections in turn. */
export class HeadParsers {
  private readonly limits: HeadLimits;
  private free: RequestHeadParser | undefined = undefined;

  constructor(limits: HeadLimits) {
    this.limits = limits;
  }

  /** A parser at the beginning of a head. */
  take(): RequestHeadParser {
    const parser = this.free ?? new RequestHeadParser(this.limits);
    this.free = undefined;
    return parser;
  }

  /** Takes a parser back whose head has been taken. */
  give(parser: RequestHeadParser): void {
    this.free = parser;
  }
}
