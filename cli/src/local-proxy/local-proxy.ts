/** Creates the folder of manifests for the rules of `--proxy`, and keeps its certificate valid. */
import { mkdtemp, readFile, rm, stat, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { localPortOf } from "@svc-gateway/common/settings/ports.ts";
import { formatBackend, type ProxyRule } from "@svc-gateway/common/settings/proxy-rule.ts";
import type { StandaloneSettings } from "@svc-gateway/common/settings/settings.ts";
import { textOf } from "@svc-gateway/common/values/errors.ts";
import { fail, ok, type Result } from "@svc-gateway/common/values/result.ts";
import { describeReadError } from "@svc-gateway/operator/sources/files/read-error.ts";
import { readKeyPair } from "@svc-gateway/operator/translate/certificates/tls-secret.ts";
import {
  authorityPath,
  certificateMs,
  defaultCaFolder,
  issueCertificate,
  openLocalCa,
  writeWhole,
  type KeyPair,
} from "./local-ca.ts";
import { backendCaFile, certificateFile, keyFile, writeManifests } from "./manifests.ts";

export type LocalProxy = {
  /** The folder to serve. */
  readonly folder: string;
  /** The URLs of the rules and what clients need to use them, as lines for the user. */
  readonly lines: readonly string[];
  /** Removes the folder. */
  remove(): Promise<void>;
};

/** The interval at which the age of the certificate of the local CA is checked. */
const renewalCheckMs = 12 * 60 * 60_000;

/** The text of the manifests. */
export const manifestsOf = (settings: StandaloneSettings): string =>
  writeManifests(settings.proxy, {
    controllerName: settings.controllerName,
    hasBackendCa: settings.proxyCa !== undefined,
  });

/** Creates the folder. Fails with one sentence, and leaves no folder, when a file or folder cannot be used. */
export async function prepareLocalProxy(
  settings: StandaloneSettings,
  env: Readonly<Record<string, string | undefined>>,
): Promise<Result<LocalProxy, string>> {
  const { proxy: rules, cert, key, proxyCa } = settings;
  for (const [flag, file] of [
    ["--cert", cert],
    ["--key", key],
    ["--proxy-ca", proxyCa],
  ] as const) {
    const problem = file === undefined ? undefined : await problemOfFile(file);
    if (problem !== undefined) return fail(`${flag}: ${problem}`);
  }
  const unusable = cert === undefined || key === undefined ? undefined : await problemOfPair(cert, key);
  if (unusable !== undefined) return fail(unusable);
  const caFolder = settings.localCaDir ?? defaultCaFolder(env);
  const authority = cert === undefined ? await openLocalCa(caFolder, Date.now()) : undefined;
  if (authority?.ok === false) return authority;
  const names = [...new Set(rules.map(({ host }) => host))];
  const signing = authority && { authority: authority.value, caFolder, names };
  const created = await createFolder(settings, signing);
  if (!created.ok) return created;
  const { folder, stop } = created.value;
  return ok({
    folder,
    lines: [
      ...rules.map((rule) => describeRule(rule, settings)),
      ...(cert === undefined
        ? [`certificates are signed by ${authorityPath(caFolder)}, which clients must trust`]
        : []),
      ...describeNames(names),
    ],
    async remove() {
      stop?.();
      await rm(folder, { recursive: true, force: true });
    },
  });
}

/** The authority that signs the certificate, and the names of the certificate. */
type Signing = {
  readonly authority: KeyPair;
  readonly caFolder: string;
  readonly names: readonly string[];
};

type CreatedFolder = {
  readonly folder: string;
  /** Stops the renewal of the certificate; undefined if it is that of the user. */
  readonly stop: (() => void) | undefined;
};

/** Creates the folder with its files. `signing` is undefined if the certificate is that of the user. */
async function createFolder(
  settings: StandaloneSettings,
  signing: Signing | undefined,
): Promise<Result<CreatedFolder, string>> {
  const parent = tmpdir();
  let folder: string;
  try {
    folder = await mkdtemp(join(parent, "svc-gateway-proxy-"));
  } catch (error) {
    return fail(`no folder for the files of --proxy can be created in ${parent}: ${textOf(error)}`);
  }
  try {
    await writeFiles(folder, settings);
    const kept = signing === undefined ? ok(undefined) : await keepCertificate(folder, signing);
    if (kept.ok) return ok({ folder, stop: kept.value });
    await removeFailed(folder);
    return kept;
  } catch (error) {
    await removeFailed(folder);
    return fail(`the files of --proxy cannot be written to ${folder}: ${textOf(error)}`);
  }
}

/** Removes a folder that cannot be served, if possible: the reason why it cannot is the one that is reported. */
const removeFailed = (folder: string): Promise<void> =>
  rm(folder, { recursive: true, force: true }).catch(() => undefined);

/** Writes the manifests, and links the PEM files of the user, so that replaced ones are followed. */
async function writeFiles(folder: string, settings: StandaloneSettings): Promise<void> {
  const { cert, key, proxyCa } = settings;
  if (cert !== undefined && key !== undefined) {
    await symlink(resolve(cert), join(folder, certificateFile));
    await symlink(resolve(key), join(folder, keyFile));
  }
  if (proxyCa !== undefined) await symlink(resolve(proxyCa), join(folder, backendCaFile));
  await writeWhole(join(folder, "proxy.yaml"), manifestsOf(settings), 0o600);
}

/**
 * Writes a certificate, and a new one before it expires. Returns a function that stops this. Fails with a sentence if
 * the authority cannot sign; rejects if the first certificate cannot be written.
 */
async function keepCertificate(
  folder: string,
  { authority, caFolder, names }: Signing,
): Promise<Result<() => void, string>> {
  let issuedMs = 0;
  const issue = (): Promise<KeyPair> => issueCertificate(authority, names, Date.now());
  const write = async ({ certificatePem, keyPem }: KeyPair): Promise<void> => {
    await writeWhole(join(folder, keyFile), keyPem, 0o600);
    await writeWhole(join(folder, certificateFile), certificatePem, 0o600);
    issuedMs = Date.now();
  };
  let first: KeyPair;
  try {
    first = await issue();
  } catch (error) {
    return fail(
      `the local CA in ${caFolder} cannot sign a certificate, expected an EC key (P-256) in ca.key: ${textOf(error)}`,
    );
  }
  await write(first);
  const timer = setInterval(() => {
    // The disk can be full temporarily; the next check tries again.
    if (Date.now() - issuedMs > certificateMs / 2)
      issue()
        .then(write)
        .catch(() => undefined);
  }, renewalCheckMs).unref();
  return ok(() => clearInterval(timer));
}

const problemOfFile = async (path: string): Promise<string | undefined> => {
  try {
    return (await stat(path)).isFile() ? undefined : `${path} is not a file`;
  } catch (error) {
    return `${path}: ${describeReadError(error, "the file")}`;
  }
};

/** Returns why a certificate cannot be served, in terms of the user's own files; undefined if it can. */
async function problemOfPair(cert: string, key: string): Promise<string | undefined> {
  const data: Record<string, string> = {};
  for (const [flag, path, name] of [
    ["--cert", cert, certificateFile],
    ["--key", key, keyFile],
  ] as const) {
    try {
      data[name] = await readFile(path, "base64");
    } catch (error) {
      return `${flag}: ${path}: ${describeReadError(error, "the file")}`;
    }
  }
  const read = readKeyPair({
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "proxy-tls", namespace: "default" },
    data,
  });
  if (read.ok) return undefined;
  const problem = read.error.message.replaceAll(/tls\.(crt|key)/g, (name) =>
    name === certificateFile ? cert : key,
  );
  return `--cert, --key: ${problem}`;
}

function describeRule({ host, path, backend }: ProxyRule, settings: StandaloneSettings): string {
  const { portMap, ingressHttpPort, ingressHttpsPort } = settings;
  const urls = [
    ["http", 80, ingressHttpPort],
    ["https", 443, ingressHttpsPort],
  ] as const;
  const shown = urls.flatMap(([scheme, usual, listener]) => {
    const port = localPortOf(portMap, listener);
    return listener === 0 ? [] : `${scheme}://${host}${port === usual ? "" : `:${port || "<port>"}`}${path}`;
  });
  return `${shown.join("  ")}  ->  ${formatBackend(backend)}`;
}

/** Describes how to resolve names, except those below `localhost`, which browsers resolve themselves (RFC 6761 6.3). */
function describeNames(names: readonly string[]): readonly string[] {
  const others = names.filter((name) => !/(^|\.)localhost$/.test(name) && !name.startsWith("*."));
  return others.length === 0
    ? []
    : [`names must lead to this machine, as with this line in /etc/hosts: 127.0.0.1 ${others.join(" ")}`];
}
