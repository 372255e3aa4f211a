/** A real API server without a node: etcd and kube-apiserver, as built for the test cluster (e2e/cluster). */
import { type ChildProcess, spawn } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { accessSync, constants, mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import {
  createApiClient,
  loadKubeConfig,
  type ApiClient,
} from "../../operator/src/sources/kubernetes/api-client.ts";
import { address } from "./isolation.ts";

const port = 6443;
const etcdUrl = "http://127.0.0.1:2379";
const adminToken = "bench";
const startLimitMs = 60_000;

const programs = (): string =>
  join(
    process.env["CLUSTER_CACHE"] ??
      join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "e2e-cluster"),
    "bin",
  );

/** The programs that have not been built yet. */
export const missingPrograms = (): readonly string[] =>
  ["etcd", "kube-apiserver"]
    .map((name) => join(programs(), name))
    .filter((path) => {
      try {
        accessSync(path, constants.X_OK);
        return false;
      } catch {
        return true;
      }
    });

/** Starts etcd and the API server; they end with the namespace that they run in. Sets `KUBECONFIG` for this server. */
export async function startApiServer(folder: string): Promise<ApiClient> {
  mkdirSync(folder, { recursive: true });
  startProgram(folder, "etcd", [
    ...["--data-dir", join(folder, "etcd"), "--unsafe-no-fsync", "--log-level", "warn"],
    ...["--quota-backend-bytes", String(4 * 1024 ** 3)],
  ]);
  const keys = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const keyPath = writeSecret(folder, "sa.key", keys.privateKey.export({ type: "pkcs8", format: "pem" }));
  const publicPath = writeSecret(folder, "sa.pub", keys.publicKey.export({ type: "spki", format: "pem" }));
  const tokens = writeSecret(folder, "tokens.csv", `${adminToken},admin,admin,system:masters\n`);
  const server = startProgram(folder, "kube-apiserver", [
    ...["--etcd-servers", etcdUrl, "--bind-address", address, "--advertise-address", address],
    ...["--secure-port", String(port), "--cert-dir", folder, "--token-auth-file", tokens],
    ...["--service-account-issuer", "https://kubernetes.default.svc"],
    ...["--service-account-signing-key-file", keyPath, "--service-account-key-file", publicPath],
    ...["--authorization-mode", "RBAC", "--service-cluster-ip-range", "10.254.0.0/16"],
    ...["--endpoint-reconciler-type", "none", "--profiling=false"],
  ]);
  return connect(folder, server);
}

function startProgram(folder: string, name: string, args: readonly string[]): ChildProcess {
  const log = openSync(join(folder, `${name}.log`), "w");
  return spawn(join(programs(), name), args, { cwd: folder, stdio: ["ignore", log, log] });
}

function writeSecret(folder: string, name: string, text: string | Buffer): string {
  const path = join(folder, name);
  writeFileSync(path, text, { mode: 0o600 });
  return path;
}

async function connect(folder: string, server: ChildProcess): Promise<ApiClient> {
  const endMs = performance.now() + startLimitMs;
  for (;;) {
    const client = await tryConnect(folder);
    if (client !== undefined) return client;
    if (server.exitCode !== null || performance.now() > endMs) {
      throw new Error(
        `kube-apiserver does not start: ${readFileSync(join(folder, "kube-apiserver.log"), "utf8").slice(-2000)}`,
      );
    }
    await delay(100);
  }
}

async function tryConnect(folder: string): Promise<ApiClient | undefined> {
  let authority: Buffer;
  try {
    authority = readFileSync(join(folder, "apiserver.crt"));
  } catch {
    return undefined;
  }
  const text = JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [
      {
        name: "bench",
        cluster: {
          server: `https://${address}:${port}`,
          "certificate-authority-data": authority.toString("base64"),
        },
      },
    ],
    users: [{ name: "admin", user: { token: adminToken } }],
    contexts: [{ name: "bench", context: { cluster: "bench", user: "admin" } }],
    "current-context": "bench",
  });
  process.env["KUBECONFIG"] = writeSecret(folder, "kubeconfig", text);
  const client = await createApiClient(loadKubeConfig());
  // The server is ready when its own objects, such as the namespace "default", exist.
  const ready = await client.call("/api/v1/namespaces/default", { timeoutMs: 2_000 });
  if (ready.ok) return client;
  await client.close();
  return undefined;
}
