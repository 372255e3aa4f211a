import type { Piece } from "../src/sockets/read-buffer.ts";
import type { Transport, TransportReceiver } from "../src/sockets/transport.ts";

/** Records the text that is read from a connection, its end and its close. */
class EndReader implements TransportReceiver {
  text = "";
  hasEnded = false;
  isClosed = false;
  private readonly onText: (text: string) => void;
  private readonly onEnd: () => void;

  constructor(onText: (text: string) => void, onEnd: () => void) {
    this.onText = onText;
    this.onEnd = onEnd;
  }

  receive({ bytes }: Piece): void {
    const text = bytes.toString("latin1");
    this.text += text;
    this.onText(text);
  }
  ended(): void {
    this.hasEnded = true;
    this.onEnd();
  }
  taken(): void {}
  closed(): void {
    this.isClosed = true;
  }
}

/** Reads a connection that was handed over. */
export function readEnd(
  transport: Transport,
  onText: (text: string) => void = () => {},
  onEnd: () => void = () => {},
): EndReader {
  const reader = new EndReader(onText, onEnd);
  transport.start(reader);
  return reader;
}
