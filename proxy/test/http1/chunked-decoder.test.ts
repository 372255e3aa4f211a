import { expect } from "chai";
import fc from "fast-check";
import { ChunkedDecoder, type ChunkedRules } from "../../src/http1/chunked-decoder.ts";

const rules: ChunkedRules = { maxTrailerBytes: 65_536, maxTrailerFields: 200, isStrict: false };

/** Decodes a message that arrives in the given pieces, each inside memory that holds other bytes around it. */
function decode(
  pieces: readonly string[],
  given = rules,
): { decoder: ChunkedDecoder; text: string; surplus: string } {
  const decoder = new ChunkedDecoder(given);
  let text = "";
  let surplus = "";
  for (const piece of pieces) {
    const buffer = Buffer.from(`<<${piece}>>`, "latin1").subarray(0, -2);
    const size = decoder.decode(buffer, 2);
    text += buffer.toString("latin1", 2, 2 + size);
    if (decoder.done) {
      surplus = buffer.toString("latin1", decoder.endIndex);
      break;
    }
    if (decoder.invalid) break;
  }
  return { decoder, text, surplus };
}

const bytes = fc.string({ unit: fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code)) });
const body = fc.array(
  bytes.filter((text) => text !== ""),
  { maxLength: 8 },
);
const sizeText = (size: number, style: number): string => {
  const hex = size.toString(16);
  return style % 3 === 0 ? hex : style % 3 === 1 ? hex.toUpperCase() : hex.padStart(12, "0");
};
const extension = fc.constantFrom("", ";x", ";x=y", ' ; x="a b"', "\t;\xff");

/** Cuts a text at arbitrary places. */
const cut = (text: string, at: readonly number[]): string[] => {
  const marks = [...new Set(at.map((mark) => mark % (text.length + 1)))].sort((a, b) => a - b);
  return [0, ...marks].map((mark, index) => text.slice(mark, marks[index] ?? text.length));
};

describe("ChunkedDecoder", () => {
  it("ChunkedDecoder decodes any body, in any chunks and any pieces", () => {
    fc.assert(
      fc.property(
        body,
        fc.array(fc.nat(2), { minLength: 9, maxLength: 9 }),
        extension,
        fc.array(fc.nat(), { maxLength: 20 }),
        fc.constantFrom([], ["A", "1"], ["X-Sum", "abc", "B", ""]),
        (chunks, styles, ext, marks, trailers) => {
          const coded =
            chunks
              .map((chunk, index) => `${sizeText(chunk.length, styles[index] ?? 0)}${ext}\r\n${chunk}\r\n`)
              .join("") +
            `0${ext}\r\n` +
            trailers.map((part, index) => (index % 2 === 0 ? `${part}: ` : `${part}\r\n`)).join("") +
            "\r\n";
          const { decoder, text } = decode(cut(coded, marks));
          expect(decoder.done).to.equal(true);
          expect(text).to.equal(chunks.join(""));
          expect(decoder.trailers).to.deep.equal(trailers.length === 0 ? undefined : trailers);
        },
      ),
    );
  });

  it("ChunkedDecoder decodes the same message with any two cuts", () => {
    const coded = "5;a=b\r\nhello\r\n1\r\n,\r\n6\r\n world\r\n0\r\nA: 1\r\nB: 2\r\n\r\n";
    for (let first = 0; first <= coded.length; first++) {
      for (let second = first; second <= coded.length; second++) {
        const { decoder, text } = decode([
          coded.slice(0, first),
          coded.slice(first, second),
          coded.slice(second),
        ]);
        expect([decoder.done, text, decoder.trailers]).to.deep.equal([
          true,
          "hello, world",
          ["A", "1", "B", "2"],
        ]);
      }
    }
  });

  it("ChunkedDecoder reports where the message ended", () => {
    expect(decode(["3\r\nabc\r\n0\r\n\r\nHTTP/1.1"]).surplus).to.equal("HTTP/1.1");
    expect(decode(["0\r\nA: b\r\n\r\nmore"]).surplus).to.equal("more");
  });

  it("ChunkedDecoder is not done before the last byte", () => {
    const coded = "3\r\nabc\r\n0\r\nA: b\r\n\r\n";
    for (let end = 0; end < coded.length; end++) {
      const { decoder } = decode([coded.slice(0, end)]);
      expect([decoder.done, decoder.invalid]).to.deep.equal([false, false]);
    }
  });

  const invalid = [
    "\r\n",
    "g\r\n",
    "-1\r\n",
    "+1\r\n",
    "0x1\r\n",
    " 1\r\n",
    "1 \r\n",
    "1\t\r\n",
    "1 2\r\n",
    ";\r\n",
    "1\n",
    "1\rx",
    "1;a\n",
    "1;\x00\r\n",
    "1;a\rb",
    "1\r\nab\r\n",
    "1\r\na\n",
    "1\r\naX",
    "1\r\na\rX",
    "00000000000001\r\n",
    "ffffffffffffffff\r\n",
    "0\r\nA : b\r\n\r\n",
    "0\r\n folded\r\n\r\n",
    "0\r\nA: b\n\r\n",
    "0\r\nA: \x00\r\n\r\n",
    "0\r\nnonsense\r\n\r\n",
    "0\r\n\rX",
    "0\r\nA: b\r\n\rX",
    `0\r\n${"A: b\r\n".repeat(201)}\r\n`,
    `1;${"x".repeat(4097)}\r\n`,
    `1${" ".repeat(4097)};a\r\n`,
    `0\r\nA: ${"x".repeat(65_536)}`,
  ];
  for (const coded of invalid) {
    it(`ChunkedDecoder rejects ${JSON.stringify(coded.length > 40 ? `${coded.slice(0, 20)}…` : coded)}, whole and byte by byte`, () => {
      expect(decode([coded]).decoder.invalid).to.equal(true);
      expect(decode([...coded]).decoder.invalid).to.equal(true);
    });
  }

  it("ChunkedDecoder accepts extensions up to their limit on every chunk", () => {
    const chunk = `1;${"x".repeat(4000)}\r\na\r\n`;
    expect(decode([chunk, chunk, "0\r\n\r\n"]).text).to.equal("aa");
  });

  describe("ChunkedDecoder for what clients send", () => {
    const strict: ChunkedRules = { maxTrailerBytes: 100, maxTrailerFields: 2, isStrict: true };
    it("ChunkedDecoder for what clients send bounds the extensions of a body together", () => {
      const chunk = `1;${"x".repeat(4095)}\r\na\r\n`;
      expect(decode([chunk.repeat(4), "0\r\n\r\n"], strict).decoder.done).to.equal(true);
      expect(decode([chunk.repeat(4), "0;"], strict).decoder.invalid).to.equal(true);
      expect(decode([chunk.repeat(5), "0\r\n\r\n"]).decoder.done).to.equal(true);
    });

    const taken = ["", ";a", ";a=b", ';a="b c\t\xe9"', ';a="\\"\\\\"', ';a=b;c;d="e"', ';a=""'];
    for (const ext of taken) {
      it(`ChunkedDecoder for what clients send takes the extensions ${JSON.stringify(ext)}`, () => {
        const coded = `1${ext}\r\na\r\n0${ext}\r\nX: y\r\n\r\n`;
        expect(decode([coded], strict)).to.nested.include({ "decoder.done": true, text: "a" });
        expect(decode([...coded], strict)).to.nested.include({ "decoder.done": true, text: "a" });
      });
    }
    const refusedExtensions = [
      ...[";", ";;a", ";a;", ";=b", ";a=", "; a", " ;a", "\t", ";a =b", ";a= b", ";a=b "],
      ...[';a="b', ';a="b"c', ';a=b"c"', ';a="\u0001"', ';a="\\\u0001"', ";a=\xe9", ";a\n", ';a="\n"'],
    ];
    for (const ext of refusedExtensions) {
      it(`ChunkedDecoder for what clients send refuses the extensions ${JSON.stringify(ext)}`, () => {
        expect(decode([`1${ext}\r\na\r\n0\r\n\r\n`], strict).decoder.invalid).to.equal(true);
      });
    }
    for (const trailers of [
      "Content-Length: 1\r\n",
      "X: y\r\ntransfer-ENCODING: chunked\r\n",
      "X: y\r\n".repeat(3),
      `X: ${"y".repeat(100)}\r\n`,
    ]) {
      it(`ChunkedDecoder for what clients send refuses the trailers ${JSON.stringify(trailers.slice(0, 30))}`, () => {
        expect(decode([`0\r\n${trailers}\r\n`], strict).decoder.invalid).to.equal(true);
      });
    }
  });
});
