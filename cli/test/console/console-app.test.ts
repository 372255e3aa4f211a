import { expect } from "chai";
import { request } from "node:http";
import type { ConsoleBuild, ConsoleProxy } from "../../src/console/console-source.ts";
import { pageNames } from "../../src/console/layout.ts";
import { createExampleCertificates } from "../../../scripts/quickstart/certificates.ts";
import { buildOf, shop, sourceOf, startTestConsole, token, type TestConsole } from "./support.ts";

const paths = [...Object.keys(pageNames), "/search?q=shop"];

/** A build with many hosts, each with the routes of the first one. */
function withHosts(build: ConsoleBuild, count: number): ConsoleBuild {
  const { translation } = build;
  const [first] = translation.routing.hosts;
  if (first === undefined) throw new Error("no host");
  const hosts = Array.from({ length: count }, (_, index) => ({
    ...first,
    host: { kind: "exact", host: `h${index}.example.com` } as const,
  }));
  return { ...build, translation: { ...translation, routing: { ...translation.routing, hosts } } };
}

/** The status of a request with any Host header, which `fetch` does not allow. */
const statusWith = (url: string, host: string, path = "/"): Promise<number> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url);
    request({ hostname, port, path, headers: { host } }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    })
      .once("error", reject)
      .end();
  });

describe("the console", () => {
  let console_: TestConsole;
  const start = async (...of: Parameters<typeof sourceOf>): Promise<TestConsole> =>
    (console_ = await startTestConsole(sourceOf(...of)));
  afterEach(() => console_.close());

  describe("access", () => {
    it("a caller without a session gets the page for signing in, and nothing of what is served", async () => {
      const { url } = await start(await buildOf(shop()));
      for (const path of paths) {
        const response = await fetch(url + path);
        expect(response.status, path).to.equal(401);
        expect(await response.text())
          .to.include('action="/sign-in"')
          .and.not.include("shop.example.com");
      }
      const explained = await fetch(`${url}/explain`, {
        method: "POST",
        body: new URLSearchParams({ method: "GET", url: "http://shop.example.com/" }),
        headers: { origin: url },
      });
      expect(explained.status).to.equal(401);
    });

    it("a token gives a session, which signing out ends", async () => {
      const { url, post } = await start(await buildOf(shop()));
      const wrong = await post("/sign-in", { token: "wrong" });
      expect([wrong.status, wrong.headers.get("set-cookie")]).to.deep.equal([403, null]);
      const right = await post("/sign-in", { token });
      expect([right.status, right.headers.get("location")]).to.deep.equal([303, "/"]);
      const set = right.headers.get("set-cookie") ?? "";
      expect(set).to.match(/^svc-gateway-console=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/);
      const [cookie = ""] = set.split(";");
      const page = (): Promise<number> => fetch(url, { headers: { cookie } }).then(({ status }) => status);
      expect(await page()).to.equal(200);
      await post("/sign-out", {}, { cookie });
      expect(await page()).to.equal(401);
    });

    it("other names, forms of other sites and other methods are refused before anything else", async () => {
      const { url, cookie, post } = await start(await buildOf(shop()));
      expect(await statusWith(url, "evil.example")).to.equal(421);
      expect(await statusWith(url, "console.example.com")).to.equal(401);
      expect((await post("/sign-in", { token }, { origin: "http://evil.example" })).status).to.equal(403);
      const cross = await post("/explain", { url: "http://x/" }, { "sec-fetch-site": "cross-site" });
      expect(cross.status).to.equal(403);
      const deleted = await fetch(url, { method: "DELETE", headers: { cookie } });
      expect([deleted.status, deleted.headers.get("allow")]).to.deep.equal([405, "GET, HEAD, POST"]);
      expect((await post("/explain", { url: "x".repeat(40_000) })).status).to.equal(413);
    });

    it("every answer forbids scripts, frames, other sources and caches", async () => {
      const { url, cookie } = await start(await buildOf(shop()));
      for (const path of [...paths, "/console.css", "/icon.svg", "/none"]) {
        const { headers } = await fetch(url + path, { headers: { cookie } });
        expect(headers.get("content-security-policy"), path).to.equal(
          "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
        );
        expect(headers.get("cache-control")).to.equal("no-store");
        expect(headers.get("x-content-type-options")).to.equal("nosniff");
      }
    });
  });

  describe("pages", () => {
    it("every page is made before the first build, and loads nothing from elsewhere", async () => {
      const { page } = await start(undefined);
      for (const path of paths) {
        const text = await page(path);
        expect(text).to.not.match(/<script|<iframe|style="|\son\w+=|(?:src|href)="(?:https?:)?\/\//i);
      }
    });

    it("no name of an object, host, header or finding becomes markup", async () => {
      const evil = `<img src=x onerror=alert(1)>"'`;
      const build = await buildOf(shop("shop", `/${encodeURIComponent("<b>")}`));
      const [finding] = (await buildOf(shop().replace('"1m"', '"<script>alert(1)</script>"'))).translation
        .diagnostics;
      const { translation } = build;
      const routing = {
        ...translation.routing,
        hosts: translation.routing.hosts.map((host) => ({
          ...host,
          host: { kind: "exact", host: evil } as const,
        })),
      };
      const diagnostics = [
        { ...finding, object: { kind: "Ingress", namespace: evil, name: evil }, message: evil },
      ];
      const proxies: readonly ConsoleProxy[] = [
        {
          name: evil,
          namespace: evil,
          scope: evil,
          phase: evil,
          node: evil,
          stream: {
            release: evil,
            health: evil,
            degradedChecks: [evil],
            version: evil,
            isInSync: false,
            behindMs: 0,
          },
        },
      ];
      const hostile = { ...build, translation: { ...translation, routing, diagnostics } } as ConsoleBuild;
      const { page, post } = await start(hostile, { proxies: () => proxies, facts: () => [[evil, evil]] });
      const query = `q=${encodeURIComponent(evil)}`;
      for (const path of [...Object.keys(pageNames).map((one) => `${one}?${query}`), `/search?${query}`]) {
        expect(await page(path), path).to.not.include("<img");
      }
      expect(await page("/findings")).to.include("&lt;img src=x onerror=alert(1)&gt;&quot;&#39;");
      const explained = await post("/explain", {
        method: evil,
        url: `http://${evil}/`,
        headers: evil,
        scope: evil,
      });
      expect(await explained.text()).to.not.include("<img");
    });

    it("ten thousand routes are shown fifty at a time, and found by every word of a search", async () => {
      const { page } = await start(withHosts(await buildOf(shop()), 10_000));
      const first = await page("/routes");
      expect(first.match(/<details/g)).to.have.length(50);
      expect(first).to.include("Page 1 of 200, 10000 in all");
      expect(first.length).to.be.below(200_000);
      expect(await page("/routes?page=999999")).to.include("Page 200 of 200");
      expect(await page("/routes?page=-1")).to.include("Page 1 of 200");
      const found = await page("/routes?q=h9999.example+ingress");
      expect(found.match(/<details/g)).to.have.length(1);
      expect((await page("/search?q=example")).match(/<a href="\/routes\?q=ingress/g)).to.have.length(10);
      expect(await page("/")).to.include("<b>10000</b>");
    });

    it("private keys, values of Secrets and credentials in filters are on no page", async () => {
      const { certificatePem, keyPem } = await createExampleCertificates(["shop.example.com"]);
      const base64 = (text: string): string => Buffer.from(text).toString("base64");
      const list = JSON.parse(shop()) as { items: Record<string, unknown>[] };
      const ingress = list.items.at(-1) as { spec: Record<string, unknown> };
      ingress.spec["tls"] = [{ hosts: ["shop.example.com"], secretName: "shop-tls" }];
      list.items.push(
        {
          apiVersion: "v1",
          kind: "Secret",
          metadata: { name: "shop-tls" },
          type: "kubernetes.io/tls",
          data: { "tls.crt": base64(certificatePem), "tls.key": base64(keyPem) },
        },
        {
          apiVersion: "gateway.networking.k8s.io/v1",
          kind: "GatewayClass",
          metadata: { name: "svc" },
          spec: { controllerName: "svc-labs.dev/gateway-controller" },
        },
        {
          apiVersion: "gateway.networking.k8s.io/v1",
          kind: "Gateway",
          metadata: { name: "gw" },
          spec: { gatewayClassName: "svc", listeners: [{ name: "http", port: 8000, protocol: "HTTP" }] },
        },
        {
          apiVersion: "gateway.networking.k8s.io/v1",
          kind: "HTTPRoute",
          metadata: { name: "api" },
          spec: {
            parentRefs: [{ name: "gw" }],
            hostnames: ["api.example.com"],
            rules: [
              {
                filters: [
                  {
                    type: "RequestHeaderModifier",
                    requestHeaderModifier: {
                      set: [
                        { name: "Authorization", value: "Basic c3VwZXJzZWNyZXQ6MTIz" },
                        { name: "X-Api-Key", value: "hunter2hunter2" },
                        { name: "X-Team", value: "payments" },
                      ],
                    },
                  },
                ],
                backendRefs: [{ name: "web", port: 80 }],
              },
            ],
          },
        },
      );
      const { page, post } = await start(await buildOf(JSON.stringify(list)));
      const pages = await Promise.all(paths.map(page));
      const explained = await post("/explain", { method: "GET", url: "http://api.example.com:8000/" });
      const all = [...pages, await explained.text()].join("\n");
      expect(all).to.include("payments").and.include("[redacted]");
      for (const secret of [
        "PRIVATE KEY",
        base64(keyPem).slice(0, 40),
        keyPem.slice(30, 70),
        "c3VwZXJz",
        "hunter2",
      ]) {
        expect(all, secret).to.not.include(secret);
      }
      expect(await page("/certificates"))
        .to.include("shop.example.com")
        .and.include("CN=svc-gateway examples");
    });

    it("a typed request is explained with its filters, and stays in the form", async () => {
      const { post } = await start(await buildOf(shop()));
      const typed = {
        method: "POST",
        url: "http://shop.example.com/cart",
        headers: "X-A: 1\r\nX-B: 2",
        scope: "",
      };
      const text = await (await post("/explain", typed)).text();
      expect(text).to.include("a route takes it").and.include("max-body-size").and.include("10.0.0.1:8000");
      expect(text)
        .to.include('value="http://shop.example.com/cart"')
        .and.include("X-A: 1\nX-B: 2</textarea>");
    });

    it("a controller says that it has no data about traffic, and a process that serves shows its counts", async () => {
      const { page } = await start(undefined);
      expect(await page("/traffic")).to.include("A controller does not see requests");
      await console_.close();
      const counter = 'svc_proxy_requests_total{listener="80",route="r1",method="GET",status_code="200"} 7\n';
      const serving = await start(undefined, { traffic: () => Promise.resolve(counter) });
      expect(await serving.page("/traffic")).to.match(/r1<\/code>[^]*<td class="num">7<\/td>/);
    });

    it("proxies are shown with what they serve, and those behind are named on the overview", async () => {
      const stream = { release: "1", health: "ready", degradedChecks: [], version: "abcdef0123456789" };
      const proxy = { namespace: "svc", scope: "shared", phase: "Running", node: "n1" };
      const { page } = await start(await buildOf(shop()), {
        proxies: () => [
          { ...proxy, name: "one", stream: { ...stream, isInSync: true, behindMs: 0 } },
          { ...proxy, name: "two", stream: { ...stream, isInSync: false, behindMs: 120_000 } },
          { ...proxy, name: "three" },
        ],
      });
      const text = await page("/proxies");
      expect(text).to.include("in sync").and.include("behind").and.include("not connected here");
      expect(text).to.include("abcdef012345").and.include("for 2 min");
      expect(await page("/")).to.match(/does not serve the last snapshot[^]*svc\/two/);
    });
  });
});
