import protobuf from "google-protobuf";

/** A `ServerMessage`: what it says of its replica, and the bytes of its snapshot if there is one. */
export type Envelope = {
  readonly leading: boolean;
  readonly answersPings: boolean;
  readonly snapshot: Uint8Array | undefined;
};

/**
 * Reads a `ServerMessage` without its snapshot, which may be large and of no interest to a proxy that only looks for
 * the leader. Undefined when the bytes are no message.
 */
export function readEnvelope(bytes: Uint8Array): Envelope | undefined {
  try {
    const reader = new protobuf.BinaryReader(bytes);
    let leading = false;
    let answersPings = false;
    let snapshot: Uint8Array | undefined;
    while (reader.nextField()) {
      switch (reader.getFieldNumber()) {
        case 1:
          snapshot = reader.readBytes();
          break;
        case 2:
          leading = reader.readBool();
          break;
        case 3:
          answersPings = reader.readBool();
          break;
        default:
          reader.skipField();
      }
    }
    return { leading, answersPings, snapshot };
  } catch {
    return undefined;
  }
}
