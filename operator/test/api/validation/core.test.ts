import { expect } from "chai";
import { accepted, problemsOf, warningsOf } from "../expect.ts";
import { ingress, ingressWith, manifest, type Manifest } from "../manifests.ts";

const path0 = "spec.rules[0].http.paths[0]";
const web = { name: "web", port: { number: 80 } };

describe("Ingress", () => {
  it("a valid Ingress is kept as written", () => {
    const full = ingressWith({
      spec: {
        defaultBackend: { resource: { apiGroup: "example.com", kind: "Bucket", name: "static" } },
        tls: [{ hosts: ["*.example.com", "shop.example.com"], secretName: "tls" }, {}],
      },
    });
    expect(warningsOf(full)).to.deep.equal([]);
    expect(accepted(full)).to.deep.equal(full);
  });

  for (const [what, manifestOf] of Object.entries({
    "a rule without host": ingressWith({ rule: { host: "" } }),
    "a wildcard host": ingressWith({ rule: { host: "*.example.com" } }),
    "a rule without http": ingress({ rules: [{ host: "a.example.com" }] }),
    "only a default backend": ingress({ defaultBackend: { service: web } }),
    "a named port": ingressWith({ path: { backend: { service: { name: "web", port: { name: "http" } } } } }),
    "no path where the type is ImplementationSpecific": ingressWith({
      path: { path: undefined, pathType: "ImplementationSpecific" },
    }),
    "an expression with // where the type is ImplementationSpecific": ingressWith({
      path: { path: "/(a|b)//", pathType: "ImplementationSpecific" },
    }),
    "an IPv4 address among its TLS hosts": ingressWith({
      spec: { tls: [{ hosts: ["192.0.2.1", "shop.example.com"], secretName: "tls" }] },
    }),
    "a class annotation that equals the class": ingressWith({
      metadata: { annotations: { "kubernetes.io/ingress.class": "svc" } },
    }),
  })) {
    it(`an Ingress may have ${what}`, () => {
      expect(warningsOf(manifestOf)).to.deep.equal([]);
    });
  }

  const host = (found: string): string =>
    `spec.rules[0].host: must be a lower-case DNS name such as example.com, or *.example.com for one label below it, found ${JSON.stringify(found)}`;

  for (const [problem, manifestOf] of Object.entries({
    "spec: must have rules or a defaultBackend": ingress({ ingressClassName: "svc" }),
    [host("Shop.example.com")]: ingressWith({ rule: { host: "Shop.example.com" } }),
    [host("shop_1.example.com")]: ingressWith({ rule: { host: "shop_1.example.com" } }),
    [host("a.*.example.com")]: ingressWith({ rule: { host: "a.*.example.com" } }),
    [host("*")]: ingressWith({ rule: { host: "*" } }),
    [host("example.com:80")]: ingressWith({ rule: { host: "example.com:80" } }),
    [host(`${"a".repeat(64)}.example.com/`)]: ingressWith({
      rule: { host: `${"a".repeat(64)}.example.com/` },
    }),
    'spec.rules[0].host: must be a DNS name, not an IP address, found "10.0.0.1"': ingressWith({
      rule: { host: "10.0.0.1" },
    }),
    'spec.tls[0].hosts[1]: must be a lower-case DNS name such as example.com, or *.example.com for one label below it, found "::1"':
      ingressWith({ spec: { tls: [{ hosts: ["192.0.2.1", "::1"] }] } }),
    [`${path0}.pathType: is required`]: ingressWith({ path: { pathType: undefined } }),
    [`${path0}.pathType: must be one of Exact, Prefix, ImplementationSpecific, found "prefix"`]: ingressWith({
      path: { pathType: "prefix" },
    }),
    [`${path0}.path: must start with "/", found "app"`]: ingressWith({ path: { path: "app" } }),
    [`${path0}.path: must start with "/", found ""`]: ingressWith({ path: { path: "", pathType: "Exact" } }),
    [`${path0}.path: must start with "/", found "[a-z]+"`]: ingressWith({
      path: { path: "[a-z]+", pathType: "ImplementationSpecific" },
    }),
    [`${path0}.path: must not contain "//", found "/a//b"`]: ingressWith({ path: { path: "/a//b" } }),
    [`${path0}.path: must not contain "%2f", found "/a%2fb"`]: ingressWith({ path: { path: "/a%2fb" } }),
    [`${path0}.path: must not end with "/..", found "/a/.."`]: ingressWith({ path: { path: "/a/.." } }),
    [`${path0}.backend: must have either service or resource, found neither`]: ingressWith({
      path: { backend: {} },
    }),
    [`${path0}.backend: must have either service or resource, found both`]: ingressWith({
      path: { backend: { service: web, resource: { kind: "A", name: "b" } } },
    }),
    [`${path0}.backend.service.port: must have either name or number, found neither`]: ingressWith({
      path: { backend: { service: { name: "web" } } },
    }),
    [`${path0}.backend.service.port: must have either name or number, found both`]: ingressWith({
      path: { backend: { service: { name: "web", port: { name: "http", number: 80 } } } },
    }),
    [`${path0}.backend.service.port.number: must be an integer, found "80"`]: ingressWith({
      path: { backend: { service: { name: "web", port: { number: "80" } } } },
    }),
    [`${path0}.backend.service.port.number: must be from 1 to 65535, found 65536`]: ingressWith({
      path: { backend: { service: { name: "web", port: { number: 65536 } } } },
    }),
    [`${path0}.backend.service.port.name: must be the name of a port, found "80"`]: ingressWith({
      path: { backend: { service: { name: "web", port: { name: "80" } } } },
    }),
    [`${path0}.backend.service.name: must be the name of a Service, found "web.shop"`]: ingressWith({
      path: { backend: { service: { name: "web.shop", port: { number: 80 } } } },
    }),
    "spec.rules[0].http.paths: must have at least 1 entry, found 0": ingressWith({
      rule: { http: { paths: [] } },
    }),
    'spec.ingressClassName: must be the name of an IngressClass, found "a/b"': ingressWith({
      spec: { ingressClassName: "a/b" },
    }),
  })) {
    it(`Ingress: rejects ${problem}`, () => {
      expect(problemsOf(manifestOf)).to.deep.equal([problem]);
    });
  }

  it("a class annotation that differs from the class of an Ingress gives a warning", () => {
    const annotations = { "kubernetes.io/ingress.class": "nginx" };
    const migrated = ingressWith({ metadata: { annotations } });
    expect(warningsOf(migrated)).to.deep.equal([
      'metadata.annotations["kubernetes.io/ingress.class"]: differs from spec.ingressClassName, which is "svc", found "nginx"',
    ]);
    expect(accepted(migrated)).to.deep.equal(migrated);
  });

  it("a TLS entry of an Ingress with a name that no Secret can have gives a warning", () => {
    const inherited = ingressWith({ spec: { tls: [{ secretName: "shop/tls" }] } });
    expect(warningsOf(inherited)).to.deep.equal([
      'spec.tls[0].secretName: must be the name of a Secret, found "shop/tls"',
    ]);
    expect(accepted(inherited)).to.deep.equal(inherited);
  });

  it("an unknown field of an Ingress gives a warning with its path", () => {
    const misspelt = ingressWith({ path: { pathtype: "Prefix" }, spec: { ingressClass: "svc" } });
    expect(warningsOf(misspelt)).to.deep.equal([
      `${path0}.pathtype: unknown field (did you mean pathType?)`,
      "spec.ingressClass: unknown field (did you mean ingressClassName?)",
    ]);
    expect(accepted(misspelt)).to.deep.equal(ingressWith({}));
  });
});

describe("IngressClass", () => {
  const ingressClass = (spec: Manifest): Manifest => ({
    apiVersion: "networking.k8s.io/v1",
    kind: "IngressClass",
    metadata: { name: "svc" },
    spec,
  });
  const parameters = { apiGroup: "ingress.svc-labs.dev", kind: "SvcIngressClassParameters", name: "p" };

  it("the parameters of an IngressClass are cluster-scoped unless it says otherwise", () => {
    const controller = "svc-labs.dev/gateway-controller";
    expect(accepted(ingressClass({ controller, parameters }))).to.have.nested.property(
      "spec.parameters.scope",
      "Cluster",
    );
    accepted(
      ingressClass({
        controller,
        parameters: { ...parameters, scope: "Namespace", namespace: "svc-system" },
      }),
    );
    expect(
      problemsOf(ingressClass({ controller, parameters: { ...parameters, namespace: "a" } })),
    ).to.deep.equal(["spec.parameters.namespace: must not be set while scope is Cluster"]);
  });

  it("the controller of an IngressClass must be a domain and a path", () => {
    expect(problemsOf(ingressClass({ controller: "svc" }))).to.deep.equal([
      'spec.controller: must be a domain and a path such as example.com/name, found "svc"',
    ]);
  });
});

describe("Service", () => {
  const service = (spec: Manifest): Manifest => manifest("v1", "Service", { spec });

  it("a Service gets the defaults of the API server", () => {
    expect(accepted(service({ ports: [{ port: 80, targetPort: "http" }] }))).to.deep.include({
      spec: {
        type: "ClusterIP",
        sessionAffinity: "None",
        ports: [{ port: 80, targetPort: "http", protocol: "TCP" }],
      },
    });
  });

  it("a Service may have no ports when it is headless or of type ExternalName", () => {
    accepted(service({ clusterIP: "None" }));
    accepted(service({ type: "ExternalName", externalName: "example.com." }));
    expect(problemsOf(service({}))).to.deep.equal([
      "spec.ports: is required unless the Service is headless or of type ExternalName",
    ]);
  });

  for (const [problem, spec] of Object.entries({
    'spec.externalName: must be a DNS name, found ""': { type: "ExternalName" },
    "spec.ports[0].port: must be from 1 to 65535, found 0": { ports: [{ port: 0 }] },
    "spec.ports[0].targetPort: must be from 1 to 65535 or the name of a port, found 70000": {
      ports: [{ port: 80, targetPort: 70000 }],
    },
    "spec.ports[1].name: is required when there are several ports": {
      ports: [{ name: "a", port: 80 }, { port: 81 }],
    },
    "spec.ports[0].name: must be lower-case letters, digits and '-', found \"Web\"": {
      ports: [{ name: "Web", port: 80 }],
    },
    'spec.ports[1].name: repeats the name "a"': {
      ports: [
        { name: "a", port: 80 },
        { name: "a", port: 81 },
      ],
    },
    "spec.ports[1]: repeats entry 0 (same port, protocol)": {
      ports: [
        { name: "a", port: 80 },
        { name: "b", port: 80 },
      ],
    },
    'spec.ports[0].protocol: must be one of TCP, UDP, SCTP, found "HTTP"': {
      ports: [{ port: 80, protocol: "HTTP" }],
    },
  })) {
    it(`Service: rejects ${problem}`, () => {
      expect(problemsOf(service(spec))).to.deep.equal([problem]);
    });
  }
});

describe("EndpointSlice", () => {
  const slice = (
    addressType: string,
    addresses: readonly string[],
    ports: readonly object[] = [{ port: 80 }],
  ): Manifest =>
    manifest("discovery.k8s.io/v1", "EndpointSlice", { addressType, endpoints: [{ addresses }], ports });

  it("an EndpointSlice may have loopback addresses", () => {
    const object = accepted(slice("IPv4", ["127.0.0.1"]));
    expect(object)
      .to.have.property("ports")
      .that.deep.equals([{ port: 80, name: "", protocol: "TCP" }]);
  });

  it("the addresses of an EndpointSlice must be of its type", () => {
    accepted(slice("IPv6", ["::1"]));
    accepted(slice("FQDN", ["web.example.com"]));
    expect(problemsOf(slice("IPv4", ["10.0.0.1", "::1"]))).to.deep.equal([
      'endpoints[0].addresses[1]: must be an IPv4 address, found "::1"',
    ]);
    expect(problemsOf(slice("IPv4", []))).to.deep.equal([
      "endpoints[0].addresses: must have at least 1 entry, found 0",
    ]);
    expect(problemsOf(slice("ipv4", ["10.0.0.1"]))).to.deep.equal([
      'addressType: must be one of IPv4, IPv6, FQDN, found "ipv4"',
    ]);
  });

  it("an EndpointSlice may have host names with a trailing dot", () => {
    expect(warningsOf(slice("FQDN", ["example.com.", "web.example.com"]))).to.deep.equal([]);
    expect(problemsOf(slice("FQDN", ["example.com.."]))).to.deep.equal([
      'endpoints[0].addresses[0]: must be a DNS name, found "example.com.."',
    ]);
  });

  it("an EndpointSlice may have repeated addresses, IPv4-mapped ones and any port number", () => {
    expect(
      warningsOf(slice("IPv4", ["10.0.0.1", "10.0.0.1", "::ffff:10.0.0.2"], [{ port: 70000 }])),
    ).to.deep.equal([]);
  });

  it("an address of an EndpointSlice with leading zeros gives a warning", () => {
    expect(warningsOf(slice("IPv4", ["010.0.0.01", "10.0.0.2"]))).to.deep.equal([
      'endpoints[0].addresses[0]: must be an IPv4 address without leading zeros, found "010.0.0.01"',
    ]);
    expect(problemsOf(slice("IPv4", ["010.0.0.256"]))).to.deep.equal([
      'endpoints[0].addresses[0]: must be an IPv4 address, found "010.0.0.256"',
    ]);
  });

  it("a port name of an EndpointSlice must be unique", () => {
    expect(problemsOf(slice("IPv4", ["10.0.0.1"], [{ port: 80 }, { port: 81 }]))).to.deep.equal([
      'ports[1].name: repeats the name ""',
    ]);
  });
});

describe("Secret and ConfigMap", () => {
  it("stringData of a Secret overwrites data, as base64", () => {
    const secret = manifest("v1", "Secret", {
      data: { a: "YQ==", b: "Yg==" },
      stringData: { b: "new", c: "é" },
    });
    expect(accepted(secret)).to.deep.equal({
      ...manifest("v1", "Secret", { data: { a: "YQ==", b: "bmV3", c: "w6k=" } }),
      type: "Opaque",
    });
  });

  it("data of a Secret may be base64 with the line breaks of a folded value", () => {
    accepted(manifest("v1", "Secret", { data: { a: "YWJj\nZGVm\n" } }));
    expect(problemsOf(manifest("v1", "Secret", { data: { a: "not base64!" } }))).to.deep.equal([
      'data.a: must be base64 text, found "not base64!"',
    ]);
  });

  it("the data of a Secret or ConfigMap is limited to 1 MiB", () => {
    accepted(manifest("v1", "ConfigMap", { data: { a: "x".repeat(1_048_576) } }));
    expect(problemsOf(manifest("v1", "ConfigMap", { data: { a: "x".repeat(1_048_577) } }))).to.deep.equal([
      "data: must be at most 1048576 bytes in total, found 1048577 bytes",
    ]);
    expect(problemsOf(manifest("v1", "Secret", { stringData: { a: "x".repeat(1_048_577) } }))).to.have.length(
      1,
    );
    accepted(manifest("v1", "Secret", { stringData: { a: "x".repeat(1_048_576) } }));
  });

  it("the keys of a ConfigMap must be valid file names", () => {
    expect(problemsOf(manifest("v1", "ConfigMap", { data: { "a/b": "" } }))).to.deep.equal([
      "data: has the key \"a/b\"; only letters, digits, '-', '_' and '.' are allowed",
    ]);
  });
});
