import { readFile } from "node:fs/promises";
import { ok, problem, type Result } from "@svc-gateway/common/values/result.ts";

/** The roots to which the certificates of controllers must chain. */
export type TrustRoots = {
  /** Reads the file again, so that the next connection uses its current content. Returns PEM. */
  read(): Promise<Result<string>>;
  /** Adds the bundle that a trusted controller has sent, replacing the previous one. */
  learn(bundlePem: string): void;
};

const maxBundleBytes = 256 * 1024;

/**
 * Trusts the roots of a mounted file and those that a controller sent with the last certificate. Both can be outdated:
 * the file by the minutes that the kubelet takes, the bundle by half of the lifetime of a certificate. When the file
 * cannot be read, its last content is used. See docs/discovery.md, "Certificate authority".
 */
export function createTrustRoots(path: string): TrustRoots {
  let filePem: string | undefined;
  let learntPem = "";
  return {
    async read() {
      try {
        const content = await readFile(path);
        if (content.byteLength > maxBundleBytes)
          return problem(`the trust bundle ${path} is larger than 256 KiB`);
        const text = content.toString("latin1");
        if (text.includes("-----BEGIN CERTIFICATE-----")) filePem = text;
      } catch (error) {
        if (filePem === undefined)
          return problem(`the trust bundle ${path} cannot be read: ${codeOf(error)}`);
      }
      return filePem === undefined
        ? problem(`the trust bundle ${path} contains no PEM certificate`)
        : ok(`${filePem}\n${learntPem}`);
    },
    learn(bundlePem) {
      learntPem = bundlePem;
    },
  };
}

const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error ? String(error.code) : String(error);
