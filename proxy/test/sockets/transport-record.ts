import type { Socket } from "node:net";

/** What a transport has reported. */
export class Recorded {
  readonly pieces: Buffer[] = [];
  readonly events: string[] = [];
  code: string | undefined = undefined;
  onPiece: () => void = () => {};

  get text(): string {
    return Buffer.concat(this.pieces).toString("latin1");
  }
  receive({ bytes }: { readonly bytes: Uint8Array }): void {
    this.pieces.push(Buffer.from(bytes));
    this.onPiece();
  }
  ended(): void {
    this.events.push("ended");
  }
  taken(): void {
    this.events.push("taken");
  }
  failed(code: string | undefined): void {
    this.code = code;
  }
  closed(): void {
    this.events.push("closed");
  }
}

/** Everything that is read from a socket from now on. */
export function collect(socket: Socket): () => string {
  let text = "";
  socket.on("data", (bytes: Buffer) => (text += bytes.toString("latin1"))).resume();
  return () => text;
}

/** Lets everything happen that is due. */
export async function turns(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
}
