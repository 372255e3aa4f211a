import { generateKeyPairSync } from "node:crypto";
import { expect } from "chai";
import { createLogLevels } from "../../src/telemetry/log-levels.ts";
import { createLogger } from "../../src/telemetry/logger.ts";
import { redacted } from "../../src/telemetry/redaction.ts";
import { createMemorySink } from "./memory-sink.ts";

const jwt = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U";
const pem = generateKeyPairSync("ec", { namedCurve: "P-256" })
  .privateKey.export({ type: "pkcs8", format: "pem" })
  .toString();
const bcrypt = "$2b$10$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy";

const written = (fields: Record<string, unknown>, message: string = "event"): string[] =>
  (["json", "console"] as const).map((format) => {
    const sink = createMemorySink();
    createLogger("svc_proxy", { levels: createLogLevels({ level: "info", targets: [] }), format, sink }).info(
      fields,
      message,
    );
    return sink.lines.join("\n");
  });

describe("redaction", () => {
  const secret = "s3cr3t-value-0123456789";
  const secretNames = [
    "authorization",
    "Authorization",
    "proxy-authorization",
    "cookie",
    "set-cookie",
    "setCookie",
    "password",
    "passwd",
    "token",
    "sa_token",
    "accessToken",
    "id-token",
    "private_key",
    "privateKey",
    "tls.key",
    "client_secret",
    "apiKey",
    "session_key",
    "ticketKeys",
    "credentials",
    "key_pem",
  ];
  for (const name of secretNames) {
    it(`the value of a field named ${name} is masked, at any depth`, () => {
      for (const line of written({
        [name]: secret,
        deep: { list: [{ [name]: secret }], map: new Map([[name, secret]]) },
      })) {
        expect(line).to.not.include("s3cr3t");
        expect(line).to.include(redacted);
      }
    });
  }

  it("references to Secrets and other harmless fields are not masked", () => {
    const fields = {
      secret: "shop/tls",
      tokens: 3,
      key: "route|80",
      secret_name: "auth",
      author: "me",
      keyword: "a",
    };
    expect(JSON.parse(written(fields)[0] ?? "")).to.deep.include(fields);
  });

  const shapes: Readonly<Record<string, readonly [string, string]>> = {
    "a PEM private key": [pem, pem.split("\n")[1] ?? ""],
    "a PEM private key cut short": [pem.slice(0, 100), pem.slice(30, 90)],
    "a bearer token": [`Bearer ${secret}`, secret],
    "basic credentials": ["basic dXNlcjpwYXNzd29yZA==", "dXNlcjpwYXNzd29yZA"],
    "a JSON Web Token": [`/path?x=${jwt}&y=1`, jwt.slice(4)],
    "a bcrypt hash": [`alice:${bcrypt}`, bcrypt],
    "a SHA-1 htpasswd hash": ["bob:{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=", "W6ph5Mm5Pz8"],
  };
  for (const [what, [text, hidden]] of Object.entries(shapes)) {
    it(`the text of ${what} is masked in any value`, () => {
      const fields = {
        note: `before ${text}`,
        list: [text],
        err: Object.assign(new Error(text), { code: text }),
      };
      for (const line of written(fields)) {
        expect(line).to.include("before ");
        expect(line).to.not.include(hidden);
      }
    });
  }

  it("ordinary text is not masked", () => {
    const text = "GET /basic/bearer?x=1 eyJ not a token, Basic auth is off";
    expect(JSON.parse(written({ text })[0] ?? "")).to.include({ text });
  });

  it("a long value is cut at 8 KiB, at the end of a character", () => {
    const [line = ""] = written({ text: "é".repeat(10_000) });
    const { text } = JSON.parse(line) as { text: string };
    expect(Buffer.byteLength(text)).to.equal(8192);
    expect(text).to.match(/^é+$/);
  });
});
