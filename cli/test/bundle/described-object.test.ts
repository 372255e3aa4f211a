import { expect } from "chai";
import type { KubeObject } from "@svc-gateway/operator/api/object.ts";
import { describeObject } from "../../src/bundle/described-object.ts";
import { createWithheldTexts } from "../../src/bundle/withheld-texts.ts";

const pin = "73106250";
const withheldPin = "[withheld: 8 characters]";

const object = (kind: string, spec: object, annotations: Readonly<Record<string, string>> = {}) =>
  ({
    apiVersion: "v1",
    kind,
    metadata: { name: "shop", namespace: "web", annotations },
    spec,
  }) as KubeObject;

describe("the description of an object in a bundle", () => {
  it("a bundle withholds a numeric secret in headers, queries, annotations, options and nginxConfig, also from messages", () => {
    const withheld = createWithheldTexts();
    const value = { name: "pin", value: pin };
    const described = [
      object(
        "HTTPRoute",
        {
          rules: [
            {
              matches: [{ headers: [value], queryParams: [value] }],
              filters: [{ requestHeaderModifier: { set: [value], add: [value] } }],
            },
          ],
        },
        { "example.com/pin": pin, "nginx.ingress.kubernetes.io/canary-by-header-value": pin },
      ),
      object("RouteOptions", { annotations: { "auth-basic-realm": pin } }),
      object("SvcIngressClassParameters", {
        defaultAnnotations: { "auth-basic-realm": pin },
        nginxConfig: { "server-snippet": pin },
      }),
      object("Gateway", { listeners: [{ tls: { options: { "example.com/pin": pin } } }] }),
    ].map((one) => describeObject(one, withheld));
    const text = JSON.stringify(described);
    expect(text).not.to.include(pin);
    expect(text.split(withheldPin)).to.have.length(1 + 10);
    expect(withheld.clean(`bad value "${pin}"`)).to.equal('bad value "[redacted]"');
  });

  it("a bundle keeps durations, sizes and switches in their fields and in settings whose names denote them", () => {
    const given = object(
      "RouteOptions",
      {
        timeouts: { request: "10s" },
        resources: { limits: { memory: "64Mi" } },
        annotations: { "max-body-size": "8m", "ssl-redirect": "off" },
        nginxConfig: { "keep-alive": "75" },
      },
      { "nginx.ingress.kubernetes.io/proxy-read-timeout": "75" },
    );
    expect(describeObject(given, createWithheldTexts())).to.deep.equal(given);
  });
});
