/** A certificate authority of this user, for names that no public authority signs (docs/standalone.md, "A local proxy"). */
import { createPrivateKey, webcrypto, X509Certificate } from "node:crypto";
import { chmod, mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { homedir, hostname, platform } from "node:os";
import { join } from "node:path";
import {
  alternativeNames,
  basicConstraints,
  certificateSign,
  commonName,
  digitalSignature,
  keyUsage,
  signCertificate,
  tlsUsage,
} from "@svc-gateway/operator/discovery/certificate-builder.ts";
import { toPem } from "@svc-gateway/operator/discovery/pem.ts";
import { createSelfSigned } from "@svc-gateway/operator/discovery/self-signed.ts";
import { textOf } from "@svc-gateway/common/values/errors.ts";
import { fail, ok, type Result } from "@svc-gateway/common/values/result.ts";

/** A certificate and its key, as PEM. */
export type KeyPair = { readonly certificatePem: string; readonly keyPem: string };

const dayMs = 24 * 60 * 60_000;
const authorityMs = 10 * 365 * dayMs;
/** The lifetime of a certificate; browsers accept at most 398 days. */
export const certificateMs = 90 * dayMs;
/** The remaining lifetime below which the authority is replaced, because a certificate could outlive it. */
const authorityMarginMs = 2 * certificateMs;

const authorityFile = "ca.crt";
const authorityKeyFile = "ca.key";

/** The default folder of the authority, in the data directory of the user. */
export function defaultCaFolder(
  env: Readonly<Record<string, string | undefined>>,
  system: string = platform(),
): string {
  const home = env["HOME"] ?? homedir();
  const data =
    env["XDG_DATA_HOME"] ??
    (system === "darwin" ? join(home, "Library", "Application Support") : join(home, ".local", "share"));
  return join(data, "svc-gateway", "local-ca");
}

/** The file with the certificate that browsers must trust. */
export const authorityPath = (folder: string): string => join(folder, authorityFile);

/**
 * Reads the authority from a folder, or creates it: `ca.crt` and `ca.key`, of which only this user may read the key.
 * Fails with a sentence when the folder cannot be used. A pair that does not match is not replaced, because browsers
 * may trust it.
 */
export async function openLocalCa(folder: string, nowMs: number): Promise<Result<KeyPair, string>> {
  const [certificate, key] = [join(folder, authorityFile), join(folder, authorityKeyFile)];
  try {
    const present = await Promise.all([readOptional(certificate), readOptional(key)]);
    const [certificatePem, keyPem] = present;
    if (certificatePem !== undefined && keyPem !== undefined) {
      const isUsable = new X509Certificate(certificatePem).checkPrivateKey(createPrivateKey(keyPem));
      if (!isUsable)
        return fail(`the local CA in ${folder} is broken: ca.key does not belong to ca.crt; delete both`);
      if (new X509Certificate(certificatePem).validToDate.getTime() > nowMs + authorityMarginMs)
        return ok({ certificatePem, keyPem });
    }
    const made = await createSelfSigned(
      `svc-gateway local CA (${hostname()})`,
      { notBeforeMs: nowMs - dayMs, notAfterMs: nowMs + authorityMs },
      [basicConstraints(true), keyUsage(certificateSign)],
    );
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await writeWhole(key, made.privateKeyPem, 0o600);
    await writeWhole(certificate, made.certificatePem, 0o644);
    return ok({ certificatePem: made.certificatePem, keyPem: made.privateKeyPem });
  } catch (error) {
    return fail(`the local CA in ${folder} cannot be used: ${textOf(error)}`);
  }
}

/** Issues a server certificate for these names, with a new key, valid for 90 days. */
export async function issueCertificate(
  authority: KeyPair,
  names: readonly string[],
  nowMs: number,
): Promise<KeyPair> {
  const { subtle } = webcrypto;
  const algorithm = { name: "ECDSA", namedCurve: "P-256" };
  const keys = await subtle.generateKey(algorithm, true, ["sign", "verify"]);
  const der = createPrivateKey(authority.keyPem).export({ type: "pkcs8", format: "der" });
  const signer = await subtle.importKey("pkcs8", new Uint8Array(der), algorithm, false, ["sign"]);
  const [publicKey, privateKey] = await Promise.all([
    subtle.exportKey("spki", keys.publicKey),
    subtle.exportKey("pkcs8", keys.privateKey),
  ]);
  const certificate = await signCertificate(
    {
      subject: commonName(names[0] ?? "localhost"),
      publicKey: new Uint8Array(publicKey),
      notBeforeMs: nowMs - dayMs,
      notAfterMs: nowMs + certificateMs,
      extensions: [
        basicConstraints(false),
        keyUsage(digitalSignature),
        tlsUsage("server"),
        alternativeNames([], names),
      ],
    },
    { name: subjectOf(authority.certificatePem), key: signer },
  );
  return {
    certificatePem: toPem("CERTIFICATE", certificate),
    keyPem: toPem("PRIVATE KEY", new Uint8Array(privateKey)),
  };
}

/** The subject of the authority. The issuer of a certificate must equal it, because chains are built by names. */
const subjectOf = (pem: string): ReturnType<typeof commonName> =>
  commonName(new X509Certificate(pem).subject.replace(/^CN=/, ""));

const readOptional = (path: string): Promise<string | undefined> =>
  readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });

/** Replaces a file atomically, so that no reader sees a part of it. */
export async function writeWhole(path: string, text: string, mode: number): Promise<void> {
  const temporary = `${path}.new`;
  await writeFile(temporary, text, { mode });
  await chmod(temporary, mode);
  await rename(temporary, path);
}
