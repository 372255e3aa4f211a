/** Signs the checksums, which cover every file, with the cosign command line. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { checksumsFile } from "./checksums.ts";

/**
 * Signs with the key that COSIGN_KEY names (a file, or the URI of a key management service), or without one if
 * COSIGN_KEYLESS is 1 and the environment has an identity. COSIGN_SIGNING_CONFIG names the services that are used.
 * Returns a sentence about the result; undefined if cosign failed, which has then printed the reason.
 */
export function signRelease(folder: string, env: NodeJS.ProcessEnv): string | undefined {
  const { COSIGN_KEY: key = "", COSIGN_KEYLESS: keyless, COSIGN_SIGNING_CONFIG: services = "" } = env;
  if (key === "" && keyless !== "1") {
    return "not signed: COSIGN_KEY names no key, and COSIGN_KEYLESS is not 1";
  }
  if (spawnSync("cosign", ["version"], { env }).error !== undefined) {
    return "not signed: there is no cosign in PATH";
  }
  const file = join(folder, checksumsFile);
  const args = [
    "sign-blob",
    "--yes",
    "--bundle",
    `${file}.sigstore.json`,
    ...(key === "" ? [] : ["--key", key]),
    ...(services === "" ? [] : ["--signing-config", services]),
  ];
  const { status } = spawnSync("cosign", [...args, file], { env, stdio: ["inherit", "ignore", "inherit"] });
  return status === 0 ? `signed: ${checksumsFile}.sigstore.json` : undefined;
}
