/** Generated HTTP/1 requests as bytes: ordinary ones, and ones that two readers might understand differently. */
import fc from "fast-check";

/** Returns the bytes of one request; `target` is its target when it is understood as intended. */
export type GeneratedRequest = (target: string) => string;

const ordinaryLine = (target: string): string => `POST ${target} HTTP/1.1`;

/** Request lines. */
const lines = fc.oneof(
  { weight: 40, arbitrary: fc.constant(ordinaryLine) },
  {
    weight: 20,
    arbitrary: fc
      .constantFrom("GET", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND")
      .map((method) => (target: string) => `${method} ${target} HTTP/1.1`),
  },
  {
    weight: 4,
    arbitrary: fc.constantFrom<(target: string) => string>(
      (target) => `POST ${target} HTTP/1.0`,
      (target) => `POST http://a.example${target} HTTP/1.1`,
      (target) => `\r\nPOST ${target} HTTP/1.1`,
      (target) => `\nPOST ${target} HTTP/1.1`,
      (target) => ` POST ${target} HTTP/1.1`,
      (target) => `post ${target} HTTP/1.1`,
      (target) => `POST  ${target} HTTP/1.1`,
      (target) => `POST ${target}  HTTP/1.1`,
      (target) => `POST\t${target} HTTP/1.1`,
      (target) => `POST ${target} HTTP/1.1 `,
      (target) => `POST ${target} http/1.1`,
      (target) => `POST ${target} HTTP/1.2`,
      (target) => `POST ${target} HTTP/01.1`,
      (target) => `POST ${target} HTTP/2.0`,
      (target) => `POST ${target}`,
      (target) => `POST ${target}\u00e9 HTTP/1.1`,
      (target) => `POST ${target}\u0001 HTTP/1.1`,
      (target) => `POST ${target}\rHTTP/1.1`,
      (target) => `POST ${target} HTTP/1.1\rX-T: y`,
      (target) => `P\0ST ${target} HTTP/1.1`,
    ),
  },
);

const byte = fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code));
const visible = fc.string({
  unit: fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code)),
});

/** Field lines that do not affect the framing when they are parsed correctly. */
const otherFields = fc.oneof(
  { weight: 60, arbitrary: visible.map((value) => `X-T: ${value}`) },
  { weight: 2, arbitrary: fc.string({ unit: byte, maxLength: 6 }).map((value) => `X-T: ${value}`) },
  { weight: 1, arbitrary: fc.string({ unit: byte, maxLength: 3 }).map((name) => `X-T${name}: v`) },
  {
    weight: 4,
    arbitrary: fc.constantFrom(
      "X-T:",
      "X-T:v",
      "X-T:\tv\t",
      "X-T : v",
      "X-T\t: v",
      ": v",
      "X-T",
      "X-T: a\r\n b",
      "X-T: a\r\n\tb",
      " X-T: v",
      "X-T: a\nX-T: b",
      "X-T: a\rX-T: b",
      "X-T: a\0b",
      "X-T: a\x7fb",
      "X-T: a\n",
      "Host: a.example",
      "Host: b.example",
      "Host : b.example",
      "Host:",
      "Connection: keep-alive",
      "Connection: x-other, content-length",
      "Connection: transfer-encoding",
      "Keep-Alive: timeout=1",
      "TE: trailers",
      "Trailer: X-T",
    ),
  },
);

/** The fields that declare the length of a body, and the body. */
type Framing = { readonly fields: readonly string[]; readonly body: string };

const content = fc.oneof(
  fc.constant(""),
  visible,
  // A body that a reader with wrong framing would take for a request.
  fc.constantFrom(
    "GET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    "0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    "5\r\nabcde\r\n0\r\n\r\n",
  ),
);

const hex = (size: number): string => size.toString(16);

const chunkedBody = fc
  .record({
    pieces: fc.array(content, { maxLength: 3 }),
    size: fc.constantFrom<(digits: string) => string>(
      (digits) => digits,
      (digits) => digits.toUpperCase(),
      (digits) => `000${digits}`,
      (digits) => `${digits};a=b`,
      (digits) => `${digits};a="b c"`,
    ),
    trailers: fc.constantFrom("", "", "X-End: 1\r\n", "Content-Type: x\r\n"),
  })
  .map(({ pieces, size, trailers }) => {
    const chunks = pieces
      .filter((piece) => piece !== "")
      .map((piece) => `${size(hex(piece.length))}\r\n${piece}\r\n`);
    return `${chunks.join("")}0\r\n${trailers}\r\n`;
  });

const brokenChunks = fc.constantFrom(
  "0x3\r\nabc\r\n0\r\n\r\n",
  "3 \r\nabc\r\n0\r\n\r\n",
  " 3\r\nabc\r\n0\r\n\r\n",
  "3\t\r\nabc\r\n0\r\n\r\n",
  "+3\r\nabc\r\n0\r\n\r\n",
  "-3\r\nabc\r\n0\r\n\r\n",
  "g\r\nabc\r\n0\r\n\r\n",
  "\r\n3\r\nabc\r\n0\r\n\r\n",
  "3\nabc\r\n0\r\n\r\n",
  "3\r\nabc\n0\r\n\r\n",
  "3\r\nabc0\r\n\r\n",
  "3\r\nabcd\r\n0\r\n\r\n",
  "3\r\nabc\r\n0\n\n",
  "3\r\nabc\r\n0\r\n\n",
  "3\r\nabc\r\n0\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
  "3;a\nb\r\nabc\r\n0\r\n\r\n",
  "3;a\rb\r\nabc\r\n0\r\n\r\n",
  "3;\0\r\nabc\r\n0\r\n\r\n",
  "ffffffffffffffff\r\nabc\r\n0\r\n\r\n",
  "10000000000000003\r\nabc\r\n0\r\n\r\n",
  "3\r\nabc\r\n0\r\nContent-Length: 5\r\n\r\n",
  "3\r\nabc\r\n0\r\nTransfer-Encoding: chunked\r\n\r\n",
  "3\r\nabc\r\n0\r\nX T: v\r\n\r\n",
  "3\r\nabc\r\n0\r\n X: v\r\n\r\n",
  "3\r\nabc\r\n",
  "3\r\nab",
  "",
);

const lengthFields = fc.constantFrom<(length: number) => readonly string[]>(
  (length) => [`Content-Length: ${length}`, `Content-Length: ${length}`],
  (length) => [`Content-Length: ${length}`, `Content-Length: ${length + 1}`],
  (length) => [`Content-Length: 0`, `content-length: ${length}`],
  (length) => [`Content-Length: ${length}, ${length}`],
  (length) => [`Content-Length: +${length}`],
  (length) => [`Content-Length: -${length}`],
  (length) => [`Content-Length: 0x${hex(length)}`],
  (length) => [`Content-Length: ${length} 0`],
  (length) => [`Content-Length: ${length}.0`],
  (length) => [`Content-Length: ${length}e0`],
  (length) => [`Content-Length: 000${length}`],
  (length) => [`Content-Length:${length}\t`],
  (length) => [`Content-Length: \u00a0${length}`],
  (length) => [`Content-Length : ${length}`],
  (length) => [`Content_Length: ${length}`],
  (length) => [`Content-Length: ${length + 7}`],
  (length) => [`Content-Length: ${Math.max(0, length - 3)}`],
  () => ["Content-Length:"],
  () => ["Content-Length: 99999999999999999999"],
  () => ["Content-Length: 18446744073709551616"],
  () => [],
);

const codingFields = fc.constantFrom<readonly string[]>(
  ["Transfer-Encoding: CHUNKED"],
  ["Transfer-Encoding:chunked\t"],
  ["Transfer-Encoding: chunked, chunked"],
  ["Transfer-Encoding: chunked", "Transfer-Encoding: chunked"],
  ["Transfer-Encoding: chunked", "Transfer-Encoding: identity"],
  ["Transfer-Encoding: identity"],
  ["Transfer-Encoding: gzip, chunked"],
  ["Transfer-Encoding: chunked, gzip"],
  ["Transfer-Encoding: chunked;q=1"],
  ["Transfer-Encoding: xchunked"],
  ["Transfer-Encoding: , chunked"],
  ["Transfer-Encoding:"],
  ['Transfer-Encoding: "chunked"'],
  ["Transfer-Encoding: \u000bchunked"],
  ["Transfer-Encoding: chun\u212aed".slice(0, 23)],
  ["Transfer-Encoding : chunked"],
  ["Transfer_Encoding: chunked"],
  ["Transfer-Encoding\t: chunked"],
  [" Transfer-Encoding: chunked"],
  ["X-T: a\nTransfer-Encoding: chunked"],
  ["X-T: a\rTransfer-Encoding: chunked"],
  ["Transfer-Encoding:\r\n chunked"],
  ["Content-Length: 3", "Transfer-Encoding: chunked"],
  ["Transfer-Encoding: chunked", "Content-Length: 0"],
  ["Transfer-Encoding: gzip", "Content-Length: 3"],
);

const framings: fc.Arbitrary<Framing> = fc.oneof(
  { weight: 10, arbitrary: fc.constant({ fields: [], body: "" }) },
  {
    weight: 30,
    arbitrary: content.map((body) => ({ fields: [`Content-Length: ${body.length}`], body })),
  },
  { weight: 30, arbitrary: chunkedBody.map((body) => ({ fields: ["Transfer-Encoding: chunked"], body })) },
  {
    weight: 3,
    arbitrary: fc
      .tuple(lengthFields, content)
      .map(([fields, body]) => ({ fields: fields(body.length), body })),
  },
  { weight: 3, arbitrary: fc.record({ fields: codingFields, body: chunkedBody }) },
  { weight: 2, arbitrary: brokenChunks.map((body) => ({ fields: ["Transfer-Encoding: chunked"], body })) },
);

/** About every fourth request must be refused. */
export const generatedRequests: fc.Arbitrary<GeneratedRequest> = fc
  .record({
    line: lines,
    host: fc.oneof(
      { weight: 30, arbitrary: fc.constantFrom("Host: a.example", "host:a.example", "HOST: A.Example:80") },
      { weight: 1, arbitrary: fc.constant("X-T: no host") },
    ),
    before: fc.array(otherFields, { maxLength: 2 }),
    framing: framings,
    after: fc.array(otherFields, { maxLength: 1 }),
    lineEnd: fc.oneof(
      { weight: 30, arbitrary: fc.constant("\r\n") },
      { weight: 1, arbitrary: fc.constant("\n") },
    ),
  })
  .map(
    ({ line, host, before, framing, after, lineEnd }) =>
      (target) =>
        `${[line(target), host, ...before, ...framing.fields, ...after].join(lineEnd)}${lineEnd}${lineEnd}${framing.body}`,
  );
