import { expect } from "chai";
import fc from "fast-check";
import { maxHeaderBytes, parseProxyHeader } from "../../../src/listeners/proxy-protocol/header.ts";
import { addresses, tlv, version2 } from "./headers.ts";

const line = (text: string): Buffer => Buffer.from(text, "latin1");
const header = (bytes: Buffer, source?: { readonly address: string; readonly port: number }): object => ({
  kind: "header",
  length: bytes.length,
  source,
});

const v4 = addresses([192, 0, 2, 7], 4711);
const v6 = addresses([0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1], 4711);
const mapped = addresses([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 192, 0, 2, 7], 1);

const good: readonly (readonly [string, Buffer, { address: string; port: number } | undefined])[] = [
  ["TCP4", line("PROXY TCP4 192.0.2.7 192.0.2.1 4711 443\r\n"), { address: "192.0.2.7", port: 4711 }],
  ["TCP6", line("PROXY TCP6 2001:DB8:0::1 ::1 65535 0\r\n"), { address: "2001:db8::1", port: 65_535 }],
  ["UNKNOWN", line("PROXY UNKNOWN\r\n"), undefined],
  ["UNKNOWN with more", line(`PROXY UNKNOWN ${"f".repeat(91)}\r\n`), undefined],
  ["IPv4", version2(v4, { transport: 0x11 }), { address: "192.0.2.7", port: 4711 }],
  ["IPv6", version2(v6, { transport: 0x21 }), { address: "2001:db8::1", port: 4711 }],
  [
    "a mapped address, which stays IPv6",
    version2(mapped, { transport: 0x21 }),
    { address: "::ffff:c000:207", port: 1 },
  ],
  ["TLVs", version2(v4, { transport: 0x11, tlvs: tlv(4, 500) }), { address: "192.0.2.7", port: 4711 }],
  ["LOCAL", version2(Buffer.alloc(0), { command: 0x20, transport: 0 }), undefined],
  ["LOCAL with an address", version2(v4, { command: 0x20, transport: 0x11 }), undefined],
  ["AF_UNSPEC", version2(tlv(4, 8), { transport: 0 }), undefined],
  ["datagrams", version2(v4, { transport: 0x12 }), undefined],
  ["AF_UNIX", version2(Buffer.alloc(216), { transport: 0x31 }), undefined],
  ["the largest", version2(v4, { transport: 0x11, tlvs: tlv(4, 521) }), { address: "192.0.2.7", port: 4711 }],
];

const bad: readonly (readonly [string, Buffer])[] = [
  ["a request", line("GET / HTTP/1.1\r\n")],
  ["a ClientHello", Buffer.from("160301", "hex")],
  ["another version", version2(v4, { command: 0x11, transport: 0x11 })],
  ["another command", version2(v4, { command: 0x22, transport: 0x11 })],
  ["another family", version2(v4, { transport: 0x41 })],
  ["another transport", version2(v4, { transport: 0x13 })],
  ["too little for IPv4", version2(v4.subarray(1), { transport: 0x11 })],
  ["too little for IPv6", version2(v6.subarray(1), { transport: 0x21 })],
  ["too little for AF_UNIX", version2(Buffer.alloc(215), { transport: 0x31 })],
  ["more than 552 bytes", version2(v4, { transport: 0x11, tlvs: tlv(4, 522) })],
  ["a line of 108 bytes", line(`PROXY UNKNOWN ${"f".repeat(92)}\r\n`)],
  ...[
    "PROXY TCP4 192.0.2.7 192.0.2.1 4711 443\n",
    "PROXY TCP4 192.0.2.7 192.0.2.1 4711 443\rX",
    "PROXY TCP4 192.0.2.7 192.0.2.1 4711\r\n",
    "PROXY TCP4 192.0.2.7 192.0.2.1 4711 443 1\r\n",
    "PROXY TCP4 192.0.2.7 192.0.2.1 4711 443 \r\n",
    "PROXY  TCP4 192.0.2.7 192.0.2.1 4711 443\r\n",
    "PROXY TCP4 192.0.2.7 192.0.2.1 04711 443\r\n",
    "PROXY TCP4 192.0.2.7 192.0.2.1 65536 443\r\n",
    "PROXY TCP4 192.0.2.07 192.0.2.1 1 443\r\n",
    "PROXY TCP4 ::1 192.0.2.1 1 443\r\n",
    "PROXY TCP6 ::1 192.0.2.1 1 443\r\n",
    "PROXY TCP6 fe80::1%1 ::1 1 443\r\n",
    "PROXY TCP5 192.0.2.7 192.0.2.1 1 443\r\n",
    "PROXY \r\n",
    "proxy TCP4 192.0.2.7 192.0.2.1 1 443\r\n",
  ].map((text) => [JSON.stringify(text), line(text)] as const),
];

describe("a PROXY protocol header", () => {
  for (const [name, bytes, source] of good) {
    it(`a PROXY protocol header is read: ${name}`, () => {
      expect(parseProxyHeader(bytes)).to.deep.equal(header(bytes, source));
      for (const more of ["GET /", "\r\n", "\0"]) {
        expect(parseProxyHeader(Buffer.concat([bytes, line(more)]))).to.deep.equal(header(bytes, source));
      }
      for (let length = 0; length < bytes.length; length++) {
        expect(parseProxyHeader(bytes.subarray(0, length)).kind).to.equal("incomplete");
      }
    });
  }

  for (const [name, bytes] of bad) {
    it(`a PROXY protocol header is refused: ${name}`, () => {
      expect(parseProxyHeader(bytes).kind).to.equal("invalid");
    });
  }

  it("a PROXY protocol header is decided within any 552 bytes, and more bytes never change the result", () => {
    const begin = fc.constantFrom(
      line("PROXY "),
      version2(v4, { transport: 0x11 }).subarray(0, 12),
      line(""),
    );
    fc.assert(
      fc.property(begin, fc.uint8Array({ minLength: maxHeaderBytes, maxLength: 700 }), (start, rest) => {
        const bytes = Buffer.concat([start, rest]);
        let answer = parseProxyHeader(bytes.subarray(0, 0));
        for (let length = 1; length <= maxHeaderBytes; length++) {
          const next = parseProxyHeader(bytes.subarray(0, length));
          if (answer.kind !== "incomplete") expect(next).to.deep.equal(answer);
          answer = next;
        }
        expect(answer.kind).to.not.equal("incomplete");
      }),
    );
  });

  it("a PROXY protocol header can name any IPv4 client", () => {
    const port = fc.integer({ min: 0, max: 65_535 });
    fc.assert(
      fc.property(fc.ipV4(), port, (address, number) => {
        const octets = address.split(".").map(Number);
        const text = line(`PROXY TCP4 ${address} 192.0.2.1 ${number} 80\r\n`);
        const binary = version2(addresses(octets, number), { transport: 0x11 });
        expect(parseProxyHeader(text)).to.deep.equal(header(text, { address, port: number }));
        expect(parseProxyHeader(binary)).to.deep.equal(header(binary, { address, port: number }));
      }),
    );
  });
});
