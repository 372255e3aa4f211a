/** The parts of a ClientHello that are read. */
export type ClientHello = {
  readonly kind: "hello";
  /** The server name in lower case; empty if the client sent none (RFC 6066 3). */
  readonly serverName: string;
  /**
   * The name of the key that encrypted the session ticket which the client offers, 16 bytes as latin1 text
   * (RFC 5077 4; in TLS 1.3 the ticket is the first identity of the pre-shared keys, RFC 8446 4.2.11).
   */
  readonly ticketKeyName?: string;
};

/** The result of reading the first bytes of a connection. */
export type ClientHelloPeek =
  /** More bytes are needed. */
  | { readonly kind: "incomplete" }
  | ClientHello
  /** Not a ClientHello, or a malformed one, to which TLS itself responds. */
  | { readonly kind: "other" };

/** The most bytes that are read. A ClientHello with large post-quantum key shares has about 2 KiB. */
const maxClientHelloBytes = 16_384;

const incomplete: ClientHelloPeek = { kind: "incomplete" };
const other: ClientHelloPeek = { kind: "other" };

const handshakeRecord = 22;
const recordHeaderBytes = 5;
const maxRecordBytes = 16_384;
const clientHello = 1;
const handshakeHeaderBytes = 4;
const serverNameExtension = 0;
const sessionTicketExtension = 35;
const preSharedKeyExtension = 41;
const hostNameType = 0;

/**
 * Reads the server name of a ClientHello (RFC 8446 4.1.2, RFC 6066 3) before TLS starts, because certificates are
 * chosen by it, and a name that is not served needs an alert that Node's TLS cannot send. Also reads the name of the
 * key that can decrypt the session ticket. The message can be split into any records and pieces. Never throws;
 * everything else is left to TLS.
 */
export function peekClientHello(bytes: Buffer): ClientHelloPeek {
  const message = joinRecords(bytes);
  if (message === undefined) return other;
  if (message.length > 0 && message[0] !== clientHello) return other;
  if (message.length >= handshakeHeaderBytes) {
    const end = handshakeHeaderBytes + message.readUIntBE(1, 3);
    if (end > maxClientHelloBytes) return other;
    if (message.length >= end) return readHello(message.subarray(handshakeHeaderBytes, end));
  }
  return bytes.length < maxClientHelloBytes ? incomplete : other;
}

/**
 * Returns the handshake bytes of the records up to the one that completes the first message, the last of which can be
 * incomplete. Returns undefined if these are not TLS records. The bytes after the message, such as early data, are not
 * checked.
 */
function joinRecords(bytes: Buffer): Buffer | undefined {
  const fragments: Buffer[] = [];
  let at = 0;
  let joined = 0;
  let wanted = handshakeHeaderBytes;
  while (at < bytes.length && joined < wanted) {
    if (bytes[at] !== handshakeRecord) return undefined;
    if (at + 1 < bytes.length && bytes[at + 1] !== 3) return undefined;
    if (at + recordHeaderBytes > bytes.length) break;
    const length = bytes.readUInt16BE(at + 3);
    if (length === 0 || length > maxRecordBytes) return undefined;
    const start = at + recordHeaderBytes;
    const fragment = bytes.subarray(start, start + length);
    fragments.push(fragment);
    joined += fragment.length;
    if (wanted === handshakeHeaderBytes && joined >= wanted) {
      wanted += Buffer.concat(fragments).readUIntBE(1, 3);
    }
    at = start + length;
  }
  return fragments.length === 1 ? fragments[0] : Buffer.concat(fragments);
}

function readHello(hello: Buffer): ClientHelloPeek {
  const reader = new Reader(hello);
  reader.skip(2 + 32); // legacy_version, random
  reader.skip(reader.uint8()); // legacy_session_id
  reader.skip(reader.uint16()); // cipher_suites
  reader.skip(reader.uint8()); // legacy_compression_methods
  if (reader.atEnd) return { kind: "hello", serverName: "" };
  const extensionsEnd = reader.at + 2 + reader.uint16();
  let serverName: string | undefined = "";
  let ticketKeyName = "";
  while (reader.at < extensionsEnd && !reader.failed) {
    const type = reader.uint16();
    const extension = new Reader(reader.bytes(reader.uint16()));
    if (type === serverNameExtension) serverName = readServerName(extension);
    if (type === sessionTicketExtension) ticketKeyName = extension.text(keyNameBytes);
    if (type === preSharedKeyExtension) ticketKeyName = readFirstIdentity(extension);
  }
  if (reader.failed || serverName === undefined) return other;
  return { kind: "hello", serverName, ...(ticketKeyName === "" ? undefined : { ticketKeyName }) };
}

function readServerName(reader: Reader): string | undefined {
  reader.skip(2); // length of the list
  const type = reader.uint8();
  const name = reader.text(reader.uint16());
  if (reader.failed || type !== hostNameType || !/^[!-~]{1,255}$/.test(name)) return undefined;
  return name.toLowerCase().replace(/\.$/, "");
}

const keyNameBytes = 16;

function readFirstIdentity(reader: Reader): string {
  reader.skip(2); // length of the list
  const identity = new Reader(reader.bytes(reader.uint16()));
  return identity.text(keyNameBytes);
}

const nothing = Buffer.alloc(0);

/** Reads numbers and bytes. Beyond the end it sets `failed`, and returns zeros or no bytes. */
class Reader {
  at = 0;
  failed = false;
  private readonly all: Buffer;

  constructor(all: Buffer) {
    this.all = all;
  }

  get atEnd(): boolean {
    return this.at === this.all.length;
  }

  skip(length: number): void {
    this.at += length;
    if (this.at > this.all.length) this.failed = true;
  }

  uint8(): number {
    this.skip(1);
    return this.failed ? 0 : this.all.readUInt8(this.at - 1);
  }

  uint16(): number {
    this.skip(2);
    return this.failed ? 0 : this.all.readUInt16BE(this.at - 2);
  }

  bytes(length: number): Buffer {
    this.skip(length);
    return this.failed ? nothing : this.all.subarray(this.at - length, this.at);
  }

  text(length: number): string {
    return this.bytes(length).toString("latin1");
  }
}
