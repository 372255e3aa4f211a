import protobuf from "google-protobuf";

/** A `ServerMessage`: the state of the replica that sent it, and the bytes of its snapshot, if any. */
export type Envelope = {
  readonly leading: boolean;
  readonly answersPings: boolean;
  readonly snapshot: Uint8Array | undefined;
};

/**
 * Reads a `ServerMessage` without decoding its snapshot, which can be large and is not needed by a proxy that only
 * searches for the leader. Returns undefined if the bytes are not a message.
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
