import { X509Certificate } from "node:crypto";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createExampleCertificates } from "./certificates.ts";

const dayMs = 24 * 60 * 60_000;

/**
 * Writes `tls.yaml`, a Secret `quickstart-tls` with a certificate for these names, and `ca.crt`, which clients must
 * trust. A certificate that is valid for another day is kept.
 */
export async function writeExampleSecret(folder: string, dnsNames: readonly string[]): Promise<void> {
  const secretFile = join(folder, "tls.yaml");
  const present = await readFile(secretFile, "utf8").catch(() => "");
  if (isUsable(present, dnsNames)) return;
  const { authorityPem, certificatePem, keyPem } = await createExampleCertificates(dnsNames);
  const base64 = (text: string): string => Buffer.from(text).toString("base64");
  const secret = [
    "# Made by `make run`; not for anything but trying the gateway out.",
    "apiVersion: v1",
    "kind: Secret",
    "metadata:",
    "  name: quickstart-tls",
    "type: kubernetes.io/tls",
    "data:",
    `  tls.crt: ${base64(certificatePem)}`,
    `  tls.key: ${base64(keyPem)}`,
    "",
  ].join("\n");
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "ca.crt"), authorityPem);
  // Renamed atomically, so that a gateway that watches the folder never reads a partial file.
  await writeFile(join(folder, ".tls.yaml"), secret, { mode: 0o600 });
  await rename(join(folder, ".tls.yaml"), secretFile);
}

function isUsable(secret: string, dnsNames: readonly string[]): boolean {
  const encoded = /^ {2}tls\.crt: (\S+)$/m.exec(secret)?.[1];
  if (encoded === undefined) return false;
  try {
    const certificate = new X509Certificate(Buffer.from(encoded, "base64"));
    const isLasting = certificate.validToDate.getTime() > Date.now() + dayMs;
    return isLasting && dnsNames.every((name) => certificate.checkHost(name) !== undefined);
  } catch {
    return false;
  }
}
