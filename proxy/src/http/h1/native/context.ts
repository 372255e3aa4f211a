import type { FrontContext } from "../context.ts";
import type { ChunkedRules } from "../../../http1/chunked-decoder.ts";
import { type HeadLimits, RequestHeadParser } from "./request-head-parser.ts";

/** The state and settings that the connections of a front share. */
export type CodecContext = {
  readonly front: FrontContext;
  readonly parsers: HeadParsers;
  readonly chunkedRules: ChunkedRules;
};

/** A pool of one head parser. Most heads arrive in one piece, so one parser can serve all connections in turn. */
export class HeadParsers {
  private readonly limits: HeadLimits;
  private free: RequestHeadParser | undefined = undefined;

  constructor(limits: HeadLimits) {
    this.limits = limits;
  }

  /** Returns a parser that is ready for a new head. */
  take(): RequestHeadParser {
    const parser = this.free ?? new RequestHeadParser(this.limits);
    this.free = undefined;
    return parser;
  }

  /** Returns a parser to the pool once its head has been taken. */
  give(parser: RequestHeadParser): void {
    this.free = parser;
  }
}
