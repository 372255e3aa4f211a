/** The bytes before each message of gRPC over HTTP/2: a compression flag and four bytes of length. */

const headBytes = 5;
const maxMessageBytes = 4 * 1024 * 1024;

export function encodeMessage(message: Uint8Array): Buffer {
  const head = Buffer.alloc(headBytes);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

/** Returns a function that accepts the chunks of a stream and returns the messages that each of them completes. */
export function createMessageReader(): (chunk: Uint8Array) => readonly Buffer[] {
  let waiting = Buffer.alloc(0);
  return (chunk) => {
    waiting = Buffer.concat([waiting, chunk]);
    const messages: Buffer[] = [];
    for (;;) {
      if (waiting.length < headBytes) return messages;
      const length = waiting.readUInt32BE(1);
      if (length > maxMessageBytes) throw new Error(`a message of ${length} bytes is too long`);
      if (waiting.length < headBytes + length) return messages;
      messages.push(waiting.subarray(headBytes, headBytes + length));
      waiting = waiting.subarray(headBytes + length);
    }
  };
}

/** A protobuf message with one string field of number 1 (protobuf.dev, "Encoding"). */
export function encodeText(text: string): Buffer {
  const bytes = Buffer.from(text, "utf8");
  const prefix = [0x0a];
  let left = bytes.length;
  while (left > 0x7f) {
    prefix.push((left & 0x7f) | 0x80);
    left >>>= 7;
  }
  return Buffer.concat([Buffer.from([...prefix, left]), bytes]);
}

/** The text in a message of that form. */
export function decodeText(message: Uint8Array): string {
  let at = 1;
  while (((message[at] ?? 0) & 0x80) !== 0) at++;
  return Buffer.from(message.subarray(at + 1)).toString("utf8");
}
