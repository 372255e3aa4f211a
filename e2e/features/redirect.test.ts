import { expect } from "chai";
import { send } from "../support/client.ts";
import { covers } from "../support/covers.ts";
import { ingress } from "../support/ingress.ts";
import { useSandbox } from "../support/sandbox.ts";
import { until } from "../support/until.ts";

describe("redirect", () => {
  const sandbox = useSandbox("redirect");
  covers(
    "redirect-url",
    "redirect-scheme",
    "redirect-hostname",
    "redirect-port",
    "redirect-path",
    "redirect-status-code",
  );
  const hosts = {
    all: "all.redirect.e2e.example",
    hostname: "hostname.redirect.e2e.example",
    scheme: "scheme.redirect.e2e.example",
    url: "url.redirect.e2e.example",
    status: "status.redirect.e2e.example",
  };
  const redirecting = (name: keyof typeof hosts, annotations: Readonly<Record<string, string>>): object =>
    ingress({ name, host: hosts[name], annotations, paths: [{ service: "none" }] });
  const answerOf = async (
    name: keyof typeof hosts,
  ): Promise<readonly [number, string | undefined, string]> => {
    const { status, headers, body } = await send({ host: hosts[name], path: "/a%7Eb?c=d" });
    return [status, headers.location, body];
  };

  before(async () => {
    await sandbox.apply(
      redirecting("all", {
        "redirect-scheme": "https",
        "redirect-hostname": "www.example.com",
        "redirect-port": "8443",
        "redirect-path": "/new",
        "redirect-status-code": "307",
      }),
      redirecting("hostname", { "redirect-hostname": "www.example.com", "redirect-path": "/new" }),
      redirecting("scheme", {
        "redirect-scheme": "https",
        "ssl-redirect": "true",
        "ssl-redirect-code": "301",
      }),
      redirecting("url", {
        "redirect-url": "https://www.example.com/new?x=y",
        "redirect-status-code": "308",
      }),
      redirecting("status", { "redirect-status-code": "301" }),
    );
    for (const host of Object.values(hosts)) {
      await until(`${host} to be served`, async () => (await send({ host })).status !== 404);
    }
  });

  it("redirect: scheme, host, port and path come from the annotations, and the query from the request", async () => {
    expect(await answerOf("all")).to.deep.equal([307, "https://www.example.com:8443/new?c=d", ""]);
  });

  it("redirect: parts without annotation come from the request, and the status is 302", async () => {
    expect(await answerOf("hostname")).to.deep.equal([302, "http://www.example.com/new?c=d", ""]);
  });

  it("redirect: redirect-scheme takes precedence over ssl-redirect, and sets the default port", async () => {
    expect(await answerOf("scheme")).to.deep.equal([302, `https://${hosts.scheme}/a~b?c=d`, ""]);
  });

  it("redirect: redirect-url is the whole Location, without the query of the request", async () => {
    expect(await answerOf("url")).to.deep.equal([308, "https://www.example.com/new?x=y", ""]);
  });

  it("redirect: a redirect-status-code alone does not redirect", async () => {
    expect((await answerOf("status"))[0]).to.equal(503);
  });
});
