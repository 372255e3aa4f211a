import { receivedIp } from "@svc-gateway/common/values/ip-address.ts";
import type { Peer } from "../peer.ts";

/** The result of reading the first bytes of a connection, by HAProxy's "The PROXY protocol, versions 1 & 2". */
export type ProxyHeader =
  /** The beginning of a header; more bytes are needed. */
  | { readonly kind: "incomplete" }
  /** Not a header, or a malformed one. */
  | { readonly kind: "invalid" }
  /**
   * A header of `length` bytes. `source` is undefined if the client is the peer itself: LOCAL, UNKNOWN, or no IP
   * address.
   */
  | { readonly kind: "header"; readonly length: number; readonly source: Peer | undefined };

/** The most bytes of a header with all its TLVs. */
export const maxHeaderBytes = 552;
/** The most bytes of a header of version 1, including the line end. */
const maxLineBytes = 107;

const incomplete: ProxyHeader = { kind: "incomplete" };
const invalid: ProxyHeader = { kind: "invalid" };

const signature1 = Buffer.from("PROXY ", "latin1");
const signature2 = Buffer.from("\r\n\r\n\0\r\nQUIT\n", "latin1");

/** Parses a header that can be incomplete at any point. Never throws, and reads no byte after the header. */
export function parseProxyHeader(bytes: Buffer): ProxyHeader {
  if (beginsLike(bytes, signature2)) return bytes.length < prefixBytes ? incomplete : parseVersion2(bytes);
  if (beginsLike(bytes, signature1)) return parseVersion1(bytes);
  return invalid;
}

const beginsLike = (bytes: Buffer, signature: Buffer): boolean => {
  const length = Math.min(bytes.length, signature.length);
  return bytes.compare(signature, 0, length, 0, length) === 0;
};

function parseVersion1(bytes: Buffer): ProxyHeader {
  const text = bytes.toString("latin1", 0, maxLineBytes);
  const end = text.search(/[\r\n]/);
  if (end < 0) return bytes.length < maxLineBytes ? incomplete : invalid;
  if (text[end] !== "\r") return invalid;
  if (end + 1 === text.length) return bytes.length < maxLineBytes ? incomplete : invalid;
  if (text[end + 1] !== "\n") return invalid;
  const length = end + 2;
  const [, family, ...fields] = text.slice(0, end).split(" ");
  // The rest of the line after UNKNOWN must be ignored.
  if (family === "UNKNOWN") return { kind: "header", length, source: undefined };
  const isAddress = family === "TCP4" ? isIPv4Text : family === "TCP6" ? isIPv6Text : undefined;
  if (isAddress === undefined || fields.length !== 4) return invalid;
  const [from = "", to = "", fromPort = "", toPort = ""] = fields;
  const address = receivedIp(from);
  if (address === undefined || !isAddress(from) || !isAddress(to)) return invalid;
  if (!isPort(fromPort) || !isPort(toPort)) return invalid;
  return { kind: "header", length, source: { address, port: Number(fromPort) } };
}

const isIPv4Text = (text: string): boolean => receivedIp(text) !== undefined && !text.includes(":");
const isIPv6Text = (text: string): boolean => receivedIp(text) !== undefined && text.includes(":");
const isPort = (text: string): boolean => /^(?:0|[1-9]\d{0,4})$/.test(text) && Number(text) <= 65_535;

/** Signature, version and command, family and transport, length of the rest. */
const prefixBytes = 16;
const addressBytes = { v4: 12, v6: 36, unix: 216 };

function parseVersion2(bytes: Buffer): ProxyHeader {
  const command = bytes[12] as number;
  const transport = bytes[13] as number;
  const length = prefixBytes + bytes.readUInt16BE(14);
  if (command !== 0x20 && command !== 0x21) return invalid;
  if (length > maxHeaderBytes || transport >> 4 > 3 || (transport & 15) > 2) return invalid;
  if (bytes.length < length) return incomplete;
  const header = (source: Peer | undefined): ProxyHeader => ({ kind: "header", length, source });
  if (command === 0x20) return header(undefined);
  const rest = length - prefixBytes;
  switch (transport) {
    case 0x11:
      if (rest < addressBytes.v4) return invalid;
      return header({ address: bytes.subarray(16, 20).join("."), port: bytes.readUInt16BE(24) });
    case 0x21: {
      if (rest < addressBytes.v6) return invalid;
      const groups = Array.from({ length: 8 }, (_, i) => bytes.readUInt16BE(16 + 2 * i).toString(16));
      return header({ address: receivedIp(groups.join(":")) ?? "", port: bytes.readUInt16BE(48) });
    }
    case 0x31:
    case 0x32:
      return rest < addressBytes.unix ? invalid : header(undefined);
    default:
      // No address, or not that of a TCP connection. As in HAProxy, the address of the connection is used.
      return header(undefined);
  }
}
