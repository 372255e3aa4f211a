import type { Compression } from "@svc-gateway/common/features/compression.ts";
import type { Exchange } from "../exchange/exchange.ts";
import type { Filter } from "../exchange/filter.ts";
import type { Fields } from "../message/fields.ts";
import type { ResponseHead } from "../message/message.ts";
import { readAcceptEncoding } from "./accept-encoding.ts";
import { createEncoder, type Coding } from "./body-encoder.ts";
import type { EncoderSlots } from "./encoder-slots.ts";

/** Compresses the responses of upstreams for clients that accept it. See docs/features/compression.md. */
export function compressionFilter(settings: Compression, slots: EncoderSlots): Filter {
  const types = new Set(settings.types);
  return {
    slug: "compression",
    transformBody(exchange, head, ends) {
      const type = mediaType(head.headers);
      if (type === undefined || !types.has(type) || !isCompressible(exchange, head, settings.minSize)) {
        return undefined;
      }
      head.headers.addToVary("Accept-Encoding");
      const coding = chooseCoding(exchange, settings);
      if (coding === undefined || head.bodyless || !slots.take()) return undefined;
      describeEncoded(head, coding);
      const options = { level: settings.level, flushesAtOnce: type === "text/event-stream" };
      return createEncoder(coding, options, ends, () => slots.free());
    },
  };
}

/** The Content-Type without parameters; undefined for gRPC, which frames and compresses its messages itself. */
function mediaType(headers: Fields): string | undefined {
  const value = headers.joined("content-type");
  if (value === undefined) return undefined;
  const semicolon = value.indexOf(";");
  const type = (semicolon < 0 ? value : value.slice(0, semicolon)).trim().toLowerCase();
  return type.startsWith("application/grpc") ? undefined : type;
}

const noTransform = /(?:^|[\s,])no-transform(?:$|[\s,;=])/i;

/** Whether the response may be compressed, regardless of the codings that the client accepts. */
function isCompressible(
  { received }: Exchange,
  { status, headers, length }: ResponseHead,
  minSize: number,
): boolean {
  if (status === 204 || status === 205 || status === 206 || status === 304) return false;
  if (length !== undefined && (length === 0 || length < minSize)) return false;
  return (
    headers.joined("content-encoding") === undefined &&
    headers.joined("content-range") === undefined &&
    !noTransform.test(headers.joined("cache-control") ?? "") &&
    !noTransform.test(received.joined("cache-control") ?? "")
  );
}

function chooseCoding({ received }: Exchange, { gzip, brotli }: Compression): Coding | undefined {
  const accepted = readAcceptEncoding(received.joined("accept-encoding") ?? "");
  if (brotli && accepted.br) return "br";
  return gzip && accepted.gzip ? "gzip" : undefined;
}

/** Fields that describe the bytes that the upstream sent, and are wrong for the encoded body. */
const aboutBytes = new Set([
  "content-length",
  "accept-ranges",
  "content-md5",
  "digest",
  "content-digest",
  "repr-digest",
]);

/** Adapts the head to the encoded body, which is another representation: its validator becomes weak (RFC 9110 8.8.3.3). */
function describeEncoded(head: ResponseHead, coding: Coding): void {
  const { headers } = head;
  headers.remove(aboutBytes);
  const tag = headers.first("etag");
  if (tag?.startsWith('"') === true) headers.replace("ETag", `W/${tag}`);
  headers.append("Content-Encoding", coding);
  head.length = undefined;
}
