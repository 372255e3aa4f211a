import { expect } from "chai";
import fc from "fast-check";
import { HpackDecoder } from "../../../src/http2/hpack/decoder.ts";
import { BlockEncoder, integer, type Representation } from "./block.ts";

const judge = (name: string, value: string): number => name.length * 1000 + value.length;

type Decoded = { readonly isSound: boolean; readonly fields: [string, string][]; readonly tags: number[] };

function decode(decoder: HpackDecoder, block: Buffer): Decoded {
  const fields: [string, string][] = [];
  const tags: number[] = [];
  // Bytes around a block must not matter.
  const bytes = Buffer.concat([Buffer.alloc(3, 0xff), block, Buffer.alloc(5, 0x82)]);
  const isSound = decoder.decode(bytes, 3, 3 + block.length, {
    onField: ({ name, value, tag }) => {
      fields.push([name, value]);
      tags.push(tag);
    },
  });
  return { isSound, fields, tags };
}

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(" ", ""), "hex");

const requests = [
  [
    [":method", "GET"],
    [":scheme", "http"],
    [":path", "/"],
    [":authority", "www.example.com"],
  ],
  [
    [":method", "GET"],
    [":scheme", "http"],
    [":path", "/"],
    [":authority", "www.example.com"],
    ["cache-control", "no-cache"],
  ],
  [
    [":method", "GET"],
    [":scheme", "https"],
    [":path", "/index.html"],
    [":authority", "www.example.com"],
    ["custom-key", "custom-value"],
  ],
];

const responses = [
  [
    [":status", "302"],
    ["cache-control", "private"],
    ["date", "Mon, 21 Oct 2013 20:13:21 GMT"],
    ["location", "https://www.example.com"],
  ],
  [
    [":status", "307"],
    ["cache-control", "private"],
    ["date", "Mon, 21 Oct 2013 20:13:21 GMT"],
    ["location", "https://www.example.com"],
  ],
  [
    [":status", "200"],
    ["cache-control", "private"],
    ["date", "Mon, 21 Oct 2013 20:13:22 GMT"],
    ["location", "https://www.example.com"],
    ["content-encoding", "gzip"],
    ["set-cookie", "foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1"],
  ],
];

describe("the HPACK decoder", () => {
  for (const [name, blocks, lists] of [
    [
      "C.3, requests without Huffman coding",
      [
        "8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d",
        "8286 84be 5808 6e6f 2d63 6163 6865",
        "8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65",
      ],
      requests,
    ],
    [
      "C.4, requests with Huffman coding",
      [
        "8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff",
        "8286 84be 5886 a8eb 1064 9cbf",
        "8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf",
      ],
      requests,
    ],
    [
      // The table of these examples has 256 octets.
      "C.5, responses without Huffman coding",
      [
        "3fe101 4803 3330 3258 0770 7269 7661 7465 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3120 474d 546e 1768 7474 7073 3a2f 2f77 7777 2e65 7861 6d70 6c65 2e63 6f6d",
        "4803 3330 37c1 c0bf",
        "88c1 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3220 474d 54c0 5a04 677a 6970 7738 666f 6f3d 4153 444a 4b48 514b 425a 584f 5157 454f 5049 5541 5851 5745 4f49 553b 206d 6178 2d61 6765 3d33 3630 303b 2076 6572 7369 6f6e 3d31",
      ],
      responses,
    ],
    [
      "C.6, responses with Huffman coding",
      [
        "3fe101 4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b ff6e 919d 29ad 1718 63c7 8f0b 97c8 e9ae 82ae 43d3",
        "4883 640e ffc1 c0bf",
        "88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b d9ab 77ad 94e7 821d d7f2 e6c7 b335 dfdf cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f 9587 3160 65c0 03ed 4ee5 b106 3d50 07",
      ],
      responses,
    ],
  ] as const) {
    it(`the examples of RFC 7541 are decoded: ${name}`, () => {
      const decoder = new HpackDecoder(judge);
      blocks.forEach((block, at) => {
        const { isSound, fields, tags } = decode(decoder, hex(block));
        expect(isSound).to.equal(true);
        expect(fields).to.deep.equal(lists[at]);
        expect(tags).to.deep.equal(fields.map(([field, value]) => judge(field, value)));
      });
    });
  }

  for (const [what, block] of Object.entries({
    "index 0": "80",
    "an index beyond both tables": "be",
    "an index of a name beyond both tables": "7f00 00",
    "a name without a value": "0001 61",
    "a value that goes on after the block": "0001 6102 62",
    "a number that goes on after the block": "ff80",
    "a number beyond 28 bits": "ffff ffff ff7f",
    "an endless number": "ff80 8080 8080 8080 8080 01",
    "a table larger than announced": "3fe2 1f",
    "a table size behind a field": "8220",
    "EOS in a string": "0001 6184 ffff ffff",
    "padding that is no beginning of EOS": "0001 6181 18",
    "padding of a whole octet": "0001 6182 1fff",
  })) {
    it(`${what} makes a block invalid`, () => {
      expect(decode(new HpackDecoder(judge), hex(block)).isSound).to.equal(false);
    });
  }

  const text = fc.oneof(
    fc.string({ unit: "binary-ascii", maxLength: 40 }),
    fc.uint8Array({ maxLength: 300 }).map((octets) => Buffer.from(octets).toString("latin1")),
  );
  const field = fc.record<Representation>({
    name: fc.oneof(fc.constantFrom(":path", "x-a", "cookie", "x-b", "date"), text),
    value: fc.oneof(fc.constantFrom("", "1", "two"), text),
    kind: fc.constantFrom("indexed", "incremental", "plain", "never"),
    isNameCoded: fc.boolean(),
    isValueCoded: fc.boolean(),
  });

  it("fields are decoded from every representation that an encoder can choose, block after block", () => {
    fc.assert(
      fc.property(fc.array(fc.array(field, { maxLength: 12 }), { maxLength: 12 }), (blocks) => {
        const encoder = new BlockEncoder();
        const decoder = new HpackDecoder(judge);
        for (const fields of blocks) {
          const decoded = decode(decoder, encoder.encode(fields));
          expect(decoded.isSound).to.equal(true);
          expect(decoded.fields).to.deep.equal(fields.map(({ name, value }) => [name, value]));
        }
      }),
      { numRuns: 300 },
    );
  });

  it("a string of 100,000 octets is decoded", () => {
    const value = "%".repeat(100_000);
    const encoder = new BlockEncoder();
    const block = encoder.encode([
      { name: "x", value, kind: "incremental", isNameCoded: true, isValueCoded: true },
    ]);
    const { isSound, fields } = decode(new HpackDecoder(judge), block);
    expect([isSound, fields[0]?.[1]]).to.deep.equal([true, value]);
  });

  it("any octets are decoded or refused without an exception, and without a look beyond their block", () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(
            fc.uint8Array({ maxLength: 60 }),
            fc
              .tuple(fc.array(field, { maxLength: 6 }), fc.nat(), fc.nat({ max: 255 }), fc.nat())
              .map(([fields, at, octet, end]) => {
                const block = new BlockEncoder().encode(fields);
                if (block.length > 0) block[at % block.length] = octet;
                return block.subarray(0, end % (block.length + 1));
              }),
          ),
          { maxLength: 5 },
        ),
        (blocks) => {
          const decoder = new HpackDecoder(judge);
          const other = new HpackDecoder(judge);
          for (const octets of blocks) {
            const block = Buffer.from(octets);
            const decoded = decode(decoder, block);
            const fields: [string, string][] = [];
            // The same block with nothing around it.
            const alone = Buffer.from(block);
            const isSound = other.decode(alone, 0, alone.length, {
              onField: ({ name, value }) => void fields.push([name, value]),
            });
            expect([isSound, fields]).to.deep.equal([decoded.isSound, decoded.fields]);
          }
        },
      ),
      { numRuns: 2000 },
    );
  });

  it("the table keeps 4,096 octets of the fields that are put into it", () => {
    const decoder = new HpackDecoder(judge);
    const encoder = new BlockEncoder();
    for (let i = 0; i < 500; i++) {
      const one = { kind: "incremental", isNameCoded: false, isValueCoded: false } as const;
      decode(decoder, encoder.encode([{ name: `x-${i}`, value: "v".repeat(i % 90), ...one }]));
    }
    // What the encoder still has, the decoder has too, and nothing behind it.
    let last = 0;
    while (decode(decoder, integer(0x80, 7, 62 + last)).isSound) last++;
    expect(last).to.be.within(4096 / 130, 4096 / 38);
  });
});
