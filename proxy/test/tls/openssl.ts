import { spawn } from "node:child_process";

/**
 * What `openssl s_client` says about a connection to a local port: the client for what Node's own cannot show, such as
 * the alerts of TLS 1.3 after the handshake. It sends `request` and reads until the server closes.
 */
export async function sClient(
  port: number,
  args: readonly string[],
  request = "GET / HTTP/1.1\r\nHost: x\r\n\r\n",
): Promise<string> {
  const child = spawn("openssl", ["s_client", "-connect", `127.0.0.1:${port}`, "-ign_eof", ...args]);
  let output = "";
  child.stdout.on("data", (piece: Buffer) => (output += piece.toString("latin1")));
  child.stderr.on("data", (piece: Buffer) => (output += piece.toString("latin1")));
  child.stdin.on("error", () => {});
  child.stdin.write(request);
  await new Promise<void>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", () => resolve());
  });
  return output;
}
