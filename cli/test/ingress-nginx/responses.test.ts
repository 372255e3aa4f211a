import { expect } from "chai";
import { explainIngresses, type Explained } from "./explained.ts";

const configMap = (data: Record<string, string>) => ({
  more: [{ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "nginx", namespace: "infra" }, data }],
  flags: ["--ingress-nginx-configmap", "infra/nginx"],
});

/** The fields that the backend gets, by lower-case names. */
function sentFields(
  explained: Explained,
  url: string,
  fields: readonly string[] = [],
): Record<string, string> {
  const [sent] = explained.answer(url, "GET", fields).upstream;
  return Object.fromEntries((sent?.headers ?? []).map(({ name, value }) => [name.toLowerCase(), value]));
}

describe("requests and responses of ingress-nginx", () => {
  const cors = { "enable-cors": "true", "cors-allow-origin": "https://*.shop.example" };

  it("a preflight is answered 204 before the redirect to https, address lists and authentication", async () => {
    const { answer } = await explainIngresses([
      {
        annotations: { ...cors, "whitelist-source-range": "192.0.2.1" },
        paths: ["Prefix /"],
        tls: [{ hosts: ["a.example"], secretName: "none" }],
      },
    ]);
    const from = (origin: string) => answer("http://a.example/x", "OPTIONS", [`Origin: ${origin}`]).reply;
    expect(from("https://a.shop.example")).to.include({ by: "cors", status: 204 });
    expect(from("https://shop.example")).to.include({ by: "ssl-redirect", status: 308 });
    expect(answer("http://a.example/x", "GET", ["Origin: https://a.shop.example"]).reply.status).to.equal(
      308,
    );
  });

  it("a list of origins that cannot be read answers no preflight", async () => {
    const { answer, codes } = await explainIngresses([
      { annotations: { ...cors, "cors-allow-origin": "shop.example" }, paths: ["Prefix /"] },
    ]);
    expect(codes).to.include("InvalidAnnotation shop/i0");
    for (const origin of ["shop.example", "https://shop.example", "null"]) {
      expect(answer("http://a.example/", "OPTIONS", [`Origin: ${origin}`]).reply.by).to.equal("backend");
    }
  });

  it("a backend gets the fields of ingress-nginx without an annotation, and no field with an underscore", async () => {
    const explained = await explainIngresses([{ paths: ["Prefix /"] }]);
    const fields = sentFields(explained, "http://a.example/", [
      "X-Forwarded-For: 203.0.113.5",
      "X_Field: 1",
      "X-Scheme: ftp",
      "X-Original-URI: /admin",
    ]);
    expect(fields).to.include({
      "x-request-id": "<request id>",
      "x-scheme": "http",
      "x-forwarded-scheme": "http",
      "x-forwarded-for": "<client>",
      "x-original-forwarded-for": "203.0.113.5",
      "x-original-uri": "/admin",
    });
    expect(fields).not.to.have.any.keys("via", "x_field");
  });

  it("keys of the ConfigMap change the fields", async () => {
    const explained = await explainIngresses(
      [{ paths: ["Prefix /"] }],
      configMap({
        "generate-request-id": "false",
        "enable-underscores-in-headers": "true",
        "proxy-add-original-uri-header": "true",
        "use-forwarded-headers": "true",
        "compute-full-forwarded-for": "true",
      }),
    );
    const fields = sentFields(explained, "http://a.example/x?y=1", [
      "X-Forwarded-For: 203.0.113.5",
      "X-Forwarded-Proto: https",
      "X-Forwarded-Host: public.example",
      "X_Field: 1",
    ]);
    expect(fields).to.include({
      "x-forwarded-for": "203.0.113.5, <client>",
      "x-forwarded-proto": "https",
      "x-forwarded-host": "public.example",
      "x-scheme": "https",
      "x-real-ip": "203.0.113.5",
      "x-original-uri": "/x?y=1",
      x_field: "1",
    });
    expect(fields).not.to.have.property("x-request-id");
  });

  it("use-forwarded-headers decides whether a request came over https", async () => {
    const site = { paths: ["Prefix /"], tls: [{ hosts: ["a.example"], secretName: "none" }] };
    const status = async (data: Record<string, string>, fields: readonly string[]) =>
      (await explainIngresses([site], configMap(data))).answer("http://a.example/", "GET", fields).reply
        .status;
    const secure = ["X-Forwarded-Proto: https"];
    expect(await status({ "use-forwarded-headers": "true" }, secure)).to.equal(undefined);
    expect(await status({ "use-forwarded-headers": "true" }, [])).to.equal(308);
    expect(await status({ "enable-real-ip": "true" }, secure)).to.equal(308);
    expect(await status({}, secure)).to.equal(308);
  });

  it("the host of upstream-vhost names the Service of each path", async () => {
    const { answer } = await explainIngresses([
      { annotations: { "upstream-vhost": "$service_name.$namespace.svc" }, paths: ["Prefix /"] },
    ]);
    expect(answer("http://a.example/").upstream[0]?.host).to.equal("echo.shop.svc");
  });

  it("the default-backend gets requests whose Service does not exist, and without it they are answered 503", async () => {
    const none = { name: "none", port: { number: 80 } };
    const ingress = (name: string, annotations: object) => ({
      apiVersion: "networking.k8s.io/v1",
      kind: "Ingress",
      metadata: { name, namespace: "shop", annotations },
      spec: {
        ingressClassName: "nginx",
        rules: [
          {
            host: `${name}.example`,
            http: { paths: [{ path: "/", pathType: "Prefix", backend: { service: none } }] },
          },
        ],
      },
    });
    const { answer } = await explainIngresses([{ paths: ["Prefix /"] }], {
      more: [
        ingress("with", { "nginx.ingress.kubernetes.io/default-backend": "echo" }),
        ingress("without", {}),
      ],
    });
    const [sent] = answer("http://with.example/a?b=1").upstream;
    expect([sent?.service, sent?.target]).to.deep.equal(["shop/echo", "/a?b=1"]);
    expect(sent?.headers).to.deep.include({ name: "X-Code", value: "503" });
    expect(answer("http://without.example/a").reply.status).to.equal(503);
  });

  it("custom-headers are served if the ConfigMap allows their names, and close the paths otherwise", async () => {
    const site = { annotations: { "custom-headers": "shop/headers" }, paths: ["Prefix /"] };
    const headers = {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "headers", namespace: "shop" },
      data: { "X-Team": "shop" },
    };
    const explain = async (data: Record<string, string>) => {
      const { more, flags } = configMap(data);
      return explainIngresses([site], { more: [...more, headers], flags });
    };
    const allowed = await explain({ "global-allowed-response-headers": "X-Other, x-team" });
    expect(allowed.ask("http://a.example/")).to.include({ target: "/" });
    expect(allowed.codes).not.to.include("ProtectionRefused shop/i0");
    const denied = await explain({ "global-allowed-response-headers": "X-Other" });
    expect(denied.ask("http://a.example/")).to.include({ status: 503 });
    expect(denied.codes).to.include("ProtectionRefused shop/i0");
  });
});
