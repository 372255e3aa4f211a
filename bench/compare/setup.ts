/**
 * The configuration that every subject of the bench serves: the same routes to the same backends, with the same work
 * for each request.
 */
import { execFileSync } from "node:child_process";
import { createPrivateKey, generateKeyPairSync, sign, type JsonWebKey } from "node:crypto";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** A variant of the configuration; subjects are restarted for each. */
export type Variant = {
  readonly hosts: number;
  /** Prefixes of each host: `/svc0`, `/svc1`, … */
  readonly paths: number;
  readonly accessLog: boolean;
  readonly workers: number;
  /** Whether every route of `benchHost` has a rate limit, a token check, and two changed headers. */
  readonly features: boolean;
  /**
   * Whether every request is traced. The spans are sent by OTLP over HTTP to the backend, which accepts them as any
   * request.
   */
  readonly tracing: boolean;
};

export const usual: Variant = {
  hosts: 100,
  paths: 10,
  accessLog: true,
  workers: 1,
  features: false,
  tracing: false,
};

export const hostName = (index: number): string => `h${index}.example.com`;
/** The host of the requests. It exists in every variant, and also serves `/bytes` for bodies of any size. */
export const benchHost = hostName(0);
/** The host of which all requests are sent to the gRPC backend. */
export const grpcHost = "grpc.example.com";
/**
 * The path of exported spans. The backend answers with an empty body, which means that a collector accepted all
 * spans.
 */
export const spansPath = "/bytes/0";
export const benchPath = "/svc0/items/123?x=1";

export type Certificate = { readonly certificate: string; readonly key: string };

/** The parameters with which subjects are started. */
export type Setup = {
  readonly variant: Variant;
  /** The folder for configuration, logs and temporary files of this subject only. */
  readonly folder: string;
  /** PEM files, for all hosts. */
  readonly tls: Certificate;
  readonly backendPort: number;
  /** The port for HTTP/2 with prior knowledge. */
  readonly grpcBackendPort: number;
  readonly token: TokenIssuer;
};

/** The ports on which a subject listens. Plain HTTP/1.1 and HTTP/2 with prior knowledge may share one. */
export type Ports = { readonly http: number; readonly h2c: number; readonly https: number };

/** A certificate for all hosts of the bench, with an ECDSA key on P-256. */
export function createCertificate(folder: string): Certificate {
  mkdirSync(folder, { recursive: true });
  const certificate = join(folder, "tls.crt");
  const key = join(folder, "tls.key");
  const subject = ["-subj", "/CN=bench", "-addext", "subjectAltName=DNS:*.example.com"];
  const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
  execFileSync("openssl", ["req", "-x509", ...curve, "-keyout", key, "-out", certificate, ...subject], {
    stdio: "ignore",
  });
  return { certificate, key };
}

export const readPem = ({
  certificate,
  key,
}: Certificate): { readonly crt: string; readonly key: string } => ({
  crt: readFileSync(certificate, "utf8"),
  key: readFileSync(key, "utf8"),
});

/** Signs the token of requests in the variant with features. */
export type TokenIssuer = {
  readonly issuer: string;
  readonly jwks: { readonly keys: readonly JsonWebKey[] };
  readonly token: string;
};

export function createTokenIssuer(): TokenIssuer {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const issuer = "https://bench.example.com";
  const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  const expiresAt = Math.floor(Date.now() / 1000) + 24 * 3600;
  const signed = `${encode({ alg: "ES256", kid: "bench", typ: "JWT" })}.${encode({ iss: issuer, sub: "bench", exp: expiresAt })}`;
  const key = createPrivateKey(privateKey.export({ format: "pem", type: "pkcs8" }));
  const signature = sign("sha256", Buffer.from(signed), { key, dsaEncoding: "ieee-p1363" });
  return {
    issuer,
    jwks: { keys: [{ ...publicKey.export({ format: "jwk" }), kid: "bench", alg: "ES256", use: "sig" }] },
    token: `${signed}.${signature.toString("base64url")}`,
  };
}

/** The fields that a browser sends, without Host. */
export const browserHeaders: readonly string[] = [
  "User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36",
  "Accept: text/html,application/json;q=0.9,*/*;q=0.8",
  "Accept-Encoding: gzip, deflate, br",
  "Accept-Language: en-US,en;q=0.5",
  "Cookie: sid=0123456789abcdef0123456789abcdef; theme=dark",
];
