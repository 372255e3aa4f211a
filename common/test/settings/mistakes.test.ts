import { expect } from "chai";
import type { Role } from "../../src/settings/flag.ts";
import { readProxySettings, readStandaloneSettings } from "../../src/settings/settings.ts";
import { type Env, errorOf, proxy, standalone } from "./readers.ts";

describe("settings", () => {
  describe("mistakes", () => {
    const cases: readonly (readonly [Role, readonly string[], string])[] = [
      ["standalone", ["--proxy-wrkers", "1"], "--proxy-wrkers: unknown flag (did you mean --proxy-workers?)"],
      ["standalone", ["--nonsense"], "--nonsense: unknown flag"],
      ["standalone", ["-v"], "-v: unknown flag"],
      [
        "standalone",
        ["--log"],
        '--log: expected error, warn, info, debug, trace or off, or directives such as "info,svc_proxy::access=off", got nothing',
      ],
      [
        "standalone",
        ["--proxy-workers", "--access-log"],
        "--proxy-workers: expected a whole number from 0 to 1024, got nothing",
      ],
      ["standalone", ["--proxy-workers=1", "--proxy-workers", "2"], "--proxy-workers: given twice"],
      ["standalone", ["extra"], 'unexpected argument "extra"'],
      ["standalone", ["--", "--admin-port=1"], 'unexpected argument "--admin-port=1"'],
      [
        "standalone",
        ["--discovery-port=1"],
        "--discovery-port: not a flag of serve standalone, only of serve controller",
      ],
      [
        "controller",
        ["--port-map", "80=8080"],
        "--port-map: not a flag of serve controller, only of serve proxy and serve standalone",
      ],
      [
        "standalone",
        ["--admin-port=9", "--health-port=9"],
        '--health-port: expected another port than --admin-port, got "9"',
      ],
      [
        "standalone",
        ["--port-map=80=8082"],
        '--admin-port: expected another port than the local port of --ingress-http-port 80 (see --port-map), got "8082"',
      ],
      [
        "standalone",
        ["--health-port=8443", "--proxy-bind-address=192.0.2.1", "--management-bind-address=0.0.0.0"],
        '--health-port: expected another port than the local port of --ingress-https-port 443 (see --port-map), got "8443"',
      ],
      [
        "standalone",
        ["--admin-ui", "--ingress-http-port=8083"],
        '--admin-ui-port: expected another port than the local port of --ingress-http-port 8083 (see --port-map), got "8083"',
      ],
      [
        "controller",
        ["--ingress-http-port=443"],
        '--ingress-https-port: expected another port than --ingress-http-port, got "443"',
      ],
      [
        "controller",
        ["--controller-lease-ttl=14s"],
        '--controller-lease-ttl: expected at least three times the renew interval of 5s, got "14s"',
      ],
      [
        "controller",
        ["--disable-cluster-scope"],
        "--disable-cluster-scope: requires --watch-namespace with the namespaces that are served",
      ],
      [
        "controller",
        ["--disable-cluster-scope", "--watch-namespace=a"],
        "--disable-cluster-scope: requires --ingress-class, since IngressClasses are not read, or --disable-ingress",
      ],
      [
        "controller",
        ["--disable-cluster-scope", "--watch-namespace=a", "--disable-ingress"],
        "--disable-cluster-scope: requires --gateway-class, since GatewayClasses are not read, or --disable-gateway-api",
      ],
      [
        "controller",
        [
          "--disable-cluster-scope",
          "--watch-namespace=a",
          "--ingress-class=a",
          "--gateway-class=a",
          "--admin-auth",
        ],
        "--admin-auth: cannot be combined with --disable-cluster-scope, since tokens are verified by cluster-scoped reviews",
      ],
      ["controller", ["--gateway-class=a"], "--gateway-class: requires --disable-cluster-scope"],
      [
        "controller",
        ["--dedicated-pod-template=[1]"],
        '--dedicated-pod-template: expected a JSON object, got "[1]"',
      ],
      [
        "controller",
        ["--dedicated-pod-template={"],
        '--dedicated-pod-template: expected a JSON object, got "{"',
      ],
      [
        "standalone",
        ["--access-log-fields=host,+status"],
        '--access-log-fields: expected names of fields of the access log, either all that lines have ("host,status") or changes ("+request_id,-mirror"), fields with + or - are mixed with fields without',
      ],
      [
        "standalone",
        [
          "--access-log-fields=+request_id,+trace_id,+user_agent,+referer,+request_bytes,+protocol,+tls_version,+retries",
        ],
        '--access-log-fields: expected names of fields of the access log, either all that lines have ("host,status") or changes ("+request_id,-mirror"), "request_bytes" is not a field of the access log',
      ],
      [
        "standalone",
        ["--access-log-fields=+request_id", "--access-log-format=combined"],
        "--access-log-fields: the fields of --access-log-format combined are fixed, expected json or console",
      ],
      [
        "standalone",
        ["--access-log-connections", "--access-log-format=common"],
        "--access-log-connections: --access-log-format common has no lines for connections, expected json or console",
      ],
      [
        "standalone",
        ["--request-id-trusted-cidrs=10.0.0.0/8"],
        "--request-id-trusted-cidrs: requires --request-id-header",
      ],
      ...["-0.1", "1.1", "half", ""].map(
        (ratio) =>
          [
            "standalone",
            [`--tracing-ratio=${ratio}`],
            `--tracing-ratio: expected a number from 0 to 1, such as 0.05, got "${ratio}"`,
          ] as const,
      ),
      ...["collector:4317", "ftp://c", "http://user:secret@c", "http://c/?token=x"].map(
        (url) =>
          [
            "standalone",
            [`--tracing-endpoint=${url}`],
            `--tracing-endpoint: expected a URL such as http://collector:4317, without credentials, got "${url}"`,
          ] as const,
      ),
      [
        "standalone",
        ["--tracing-headers-path=/headers"],
        "--tracing-headers-path, --tracing-ca-bundle-path: require --tracing-endpoint",
      ],
      [
        "standalone",
        ["--tracing-endpoint=http://c", "--tracing-ca-bundle-path=/ca"],
        "--tracing-ca-bundle-path: requires a --tracing-endpoint with https",
      ],
      ...["Authorization", "x_forwarded_for", "Content-Length", "Traceparent", "a b"].map(
        (name) =>
          [
            "standalone",
            [`--request-id-header=${name}`],
            `--request-id-header: expected a header name that has no other meaning to HTTP or the proxy, such as X-Request-ID, got "${name}"`,
          ] as const,
      ),
      [
        "proxy",
        ["--dedicated"],
        "--shared, --dedicated: exactly one of them is required; --dedicated also requires --gateway-name and --gateway-namespace",
      ],
      [
        "proxy",
        ["--gateway-name=g"],
        "--shared: cannot be combined with --gateway-name or --gateway-namespace",
      ],
    ];
    for (const [role, argv, message] of cases) {
      it(`the ${role} rejects ${argv.join(" ")}`, () => expect(errorOf(role, argv)).to.equal(message));
    }

    it("a missing required flag is reported after invalid values", () => {
      const missing = readStandaloneSettings({ argv: [], env: {} });
      expect(missing).to.deep.equal({
        ok: false,
        error: {
          message:
            "--manifests: required: a folder of manifests (or set SVC_MANIFESTS), or --proxy HOST=BACKEND in its place",
        },
      });
      const both = readStandaloneSettings({ argv: ["--admin-port=x"], env: {} });
      expect(both.ok || both.error.message).to.match(/^--admin-port/);
    });

    it("the port of the console is another one than the management ports, where there is a console", () => {
      expect(errorOf("standalone", ["--admin-ui", "--admin-ui-port", "8081"])).to.equal(
        '--admin-ui-port: expected another port than --admin-port and --health-port, got "8081"',
      );
      expect(standalone(["--admin-ui-port", "8081"]).adminUi).to.equal(false);
    });

    it("the ports of Ingresses have different local ports, unless no Ingress is served or the system chooses them", () => {
      const shared = "--port-map=80=9000,443=9000";
      expect(errorOf("standalone", [shared])).to.equal(
        '--port-map: expected different local ports for --ingress-http-port 80 and --ingress-https-port 443, got "9000" for both',
      );
      expect(errorOf("standalone", ["--port-map=80=443"])).to.match(/^--port-map: .* got "443" for both$/);
      for (const apart of ["--disable-ingress", "--ingress-http-port=0", "--ingress-https-port=8443"])
        expect(standalone([shared, apart]).portMap, apart).to.have.length(2);
      expect(standalone(["--port-map=80=0,443=0"]).portMap).to.have.length(2);
    });

    it("an Ingress port may be that of a management server on another address", () => {
      const shared = ["--port-map=80=8082", "--management-bind-address=127.0.0.1"];
      expect(standalone([...shared, "--proxy-bind-address=192.0.2.1"]).adminPort).to.equal(8082);
      expect(errorOf("standalone", [...shared, "--proxy-bind-address=127.0.0.1"])).to.match(/^--admin-port:/);
      expect(standalone([...shared, "--disable-ingress"]).adminPort).to.equal(8082);
    });

    it("both management ports may be 0, and there may be no Ingress port", () => {
      expect(
        standalone(["--admin-port=0", "--health-port=0", "--ingress-http-port=0", "--ingress-https-port=0"])
          .adminPort,
      ).to.equal(0);
    });
  });

  describe("the scope of a proxy", () => {
    it("the scope of a proxy is shared, or one Gateway", () => {
      expect(proxy(["--dedicated", "--gateway-name=web", "--gateway-namespace=shop"]).scope).to.deep.equal({
        kind: "dedicated",
        gateway: { namespace: "shop", name: "web" },
      });
    });

    it("the scope of a proxy is required", () => {
      const read = readProxySettings({ argv: ["--discovery-endpoint=ctl"], env: {} });
      expect(read.ok).to.equal(false);
    });

    it("a dedicated scope requires the namespace of the Gateway", () => {
      const read = readProxySettings({
        argv: ["--discovery-endpoint=ctl", "--dedicated", "--gateway-name=web"],
        env: {},
      });
      expect(read.ok || read.error.message).to.equal(
        "--dedicated: requires --gateway-name and --gateway-namespace",
      );
    });
  });

  describe("unknown variables", () => {
    const warningsOf = (env: Env): readonly string[] => {
      const read = readStandaloneSettings({ argv: ["--manifests=dir"], env });
      return read.ok ? read.value.warnings : [read.error.message];
    };

    it("each unknown SVC_ variable gives one warning, in order", () => {
      expect(warningsOf({ SVC_PROXY_WORKRS: "1", SVC_ACCESSLOG: "true", OTHER: "x" })).to.deep.equal([
        "SVC_ACCESSLOG: unknown variable, ignored",
        "SVC_PROXY_WORKRS: unknown variable, ignored",
      ]);
    });

    it("a variable of another role gives no warning", () => {
      expect(warningsOf({ SVC_DISCOVERY_PORT: "1", SVC_IMAGE: "x", SVC_SHARED: "true" })).to.deep.equal([]);
    });

    it("the service link variables of Kubernetes give no warning and set nothing", () => {
      const links = {
        SVC_SHARED_PROXY_SERVICE_HOST: "10.0.0.1",
        SVC_SHARED_PROXY_SERVICE_PORT: "80",
        SVC_SHARED_PROXY_SERVICE_PORT_HTTP: "80",
        SVC_SHARED_PROXY_PORT: "tcp://10.0.0.1:80",
        SVC_SHARED_PROXY_PORT_80_TCP: "tcp://10.0.0.1:80",
        SVC_SHARED_PROXY_PORT_80_TCP_ADDR: "10.0.0.1",
        SVC_ADMIN_PORT: "tcp://10.0.0.2:8082",
      };
      expect(warningsOf(links)).to.deep.equal([]);
      expect(standalone([], links).adminPort).to.equal(8082);
    });
  });
});
