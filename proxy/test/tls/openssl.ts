import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * The output of `openssl s_client` for a connection to a local port: it shows what Node's client cannot, such as the alerts
 * of TLS 1.3 after the handshake. It sends `request` and reads until the server closes.
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

/**
 * `openssl s_server` on a free local port, which admits only clients with a certificate of `authority` (PEM): unlike
 * Node's own servers it sends the others an alert.
 */
export async function sServer(
  certificate: { readonly chainPem: string; readonly keyPem: string },
  authority: string,
): Promise<{ readonly port: number; close(): void }> {
  const folder = mkdtempSync(join(tmpdir(), "s-server-"));
  const file = (name: string, text: string): string => {
    const path = join(folder, name);
    writeFileSync(path, text);
    return path;
  };
  const files = ["-cert", file("cert", certificate.chainPem), "-key", file("key", certificate.keyPem)];
  const asking = ["-CAfile", file("ca", authority), "-Verify", "1", "-verify_return_error"];
  const child = spawn("openssl", ["s_server", "-accept", "127.0.0.1:0", ...files, ...asking]);
  const port = await new Promise<number>((resolve, reject) => {
    let output = "";
    child.once("error", reject);
    child.once("close", () => reject(new Error(`openssl s_server ended: ${output}`)));
    child.stderr.on("data", (piece: Buffer) => (output += piece.toString("latin1")));
    child.stdout.on("data", (piece: Buffer) => {
      output += piece.toString("latin1");
      const [, found] = /^ACCEPT .*:(\d+)$/m.exec(output) ?? [];
      if (found !== undefined) resolve(Number(found));
    });
  });
  return {
    port,
    close() {
      child.kill();
      rmSync(folder, { recursive: true });
    },
  };
}
