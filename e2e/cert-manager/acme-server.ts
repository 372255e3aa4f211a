/** Pebble, an ACME server (RFC 8555) that sends its challenge requests for every host to the shared proxies. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { issueCertificate } from "../../proxy/test/tls/certificates.ts";
import { freePorts, type Programs } from "./programs.ts";

export type AcmeServer = {
  readonly directoryUrl: string;
  /** The `ip:port` of the name server, which returns one address for every name. */
  readonly nameserver: string;
  /** The certificate of the authority, PEM. */
  authorityPem(): Promise<string>;
  /** Deletes its files. */
  dispose(): void;
};

/**
 * Starts Pebble. `folder` contains the programs. Every host name resolves to `address`, where challenges are
 * requested on port 80.
 */
export async function startAcmeServer(
  programs: Programs,
  folder: string,
  address: string,
): Promise<AcmeServer> {
  const [acme = 0, management = 0, names = 0, namesManagement = 0] = await freePorts(4);
  const files = mkdtempSync(join(tmpdir(), "svc-gateway-acme-"));
  const { leafPem, keyPem } = issueCertificate(["localhost"]);
  const write = (name: string, content: string): string => {
    const path = join(files, name);
    writeFileSync(path, content, { mode: 0o600 });
    return path;
  };
  const pebble = {
    listenAddress: `127.0.0.1:${acme}`,
    managementListenAddress: `127.0.0.1:${management}`,
    certificate: write("tls.crt", leafPem),
    privateKey: write("tls.key", keyPem),
    httpPort: 80,
    tlsPort: 443,
    ocspResponderURL: "",
    externalAccountBindingRequired: false,
    retryAfter: { authz: 1, order: 1 },
  };
  const nameserver = `127.0.0.1:${names}`;
  programs.start(join(folder, "pebble-challtestsrv"), [
    ...["-http01", "", "-https01", "", "-tlsalpn01", "", "-doh", ""],
    ...["-dnsserver", nameserver, "-management", `127.0.0.1:${namesManagement}`],
    ...["-defaultIPv4", address, "-defaultIPv6", ""],
  ]);
  programs.start(
    join(folder, "pebble"),
    ["-config", write("pebble.json", JSON.stringify({ pebble })), "-dnsserver", nameserver],
    // Disables the random delays and bad nonces with which Pebble tests clients.
    { PEBBLE_VA_NOSLEEP: "1", PEBBLE_WFE_NONCEREJECT: "0" },
  );
  return {
    directoryUrl: `https://localhost:${acme}/dir`,
    nameserver,
    authorityPem: () => get(`https://localhost:${management}/roots/0`, leafPem),
    dispose: () => rmSync(files, { recursive: true, force: true }),
  };
}

const get = (url: string, ca: string): Promise<string> =>
  new Promise((settle, reject) => {
    const sent = request(url, { ca, agent: false, timeout: 10_000 });
    sent.once("timeout", () => sent.destroy(new Error(`${url} does not answer`)));
    sent.once("error", reject);
    sent.once("response", (response) => {
      text(response).then(settle, reject);
    });
    sent.end();
  });
