import { expect } from "chai";
import type { Role } from "../../src/settings/flag.ts";
import { variableOf } from "../../src/settings/flag.ts";
import { flags } from "../../src/settings/flags.ts";
import {
  flagsOf,
  readControllerSettings,
  readProxySettings,
  readStandaloneSettings,
  type ControllerSettings,
  type ProxySettings,
  type StandaloneSettings,
} from "../../src/settings/settings.ts";
import { settingName } from "../../src/settings/read-flags.ts";

type Env = Readonly<Record<string, string>>;

const standalone = (argv: readonly string[] = [], env: Env = {}): StandaloneSettings => {
  const read = readStandaloneSettings({ argv: ["--manifests", "dir", ...argv], env });
  if (!read.ok) throw new Error(read.error.message);
  return read.value.settings;
};
const controller = (argv: readonly string[] = [], env: Env = {}): ControllerSettings => {
  const read = readControllerSettings({ argv, env });
  if (!read.ok) throw new Error(read.error.message);
  return read.value.settings;
};
const proxy = (argv: readonly string[] = [], env: Env = {}): ProxySettings => {
  const read = readProxySettings({ argv: ["--discovery-endpoint", "ctl", ...argv], env });
  if (!read.ok) throw new Error(read.error.message);
  return read.value.settings;
};

const readers = {
  controller: readControllerSettings,
  proxy: readProxySettings,
  standalone: readStandaloneSettings,
};
const minimal: Readonly<Record<Role, readonly string[]>> = {
  controller: [],
  proxy: ["--shared", "--discovery-endpoint", "ctl"],
  standalone: ["--manifests", "dir"],
};
const errorOf = (role: Role, argv: readonly string[], env: Env = {}): string => {
  const read = readers[role]({ argv: [...minimal[role], ...argv], env });
  return read.ok ? "no error" : read.error.message;
};

describe("settings", () => {
  describe("defaults", () => {
    it("are those of the reference for a controller", () => {
      expect(controller()).to.deep.include({
        podName: "svc-local",
        podNamespace: "svc-system",
        managementBindAddress: "0.0.0.0",
        adminPort: 8082,
        healthPort: 8081,
        log: { level: "info", targets: [] },
        logFormat: "json",
        discoveryTrustDomain: "cluster.local",
        controllerName: "svc-labs.dev/gateway-controller",
        watchNamespace: [],
        ingressClass: undefined,
        allowExternalName: false,
        backendTlsStrict: false,
        disableIngress: false,
        disableGatewayApi: false,
        ingressHttpPort: 80,
        ingressHttpsPort: 443,
        ingressHttpPublicPort: 80,
        ingressHttpsPublicPort: 443,
        ingressDefaultBackend: undefined,
        defaultTlsSecret: undefined,
        statusAddress: undefined,
        controllerLeaseTtlMs: 15_000,
        controllerLeaseRenewIntervalMs: 5000,
        sharedProxySelector: {
          "app.kubernetes.io/name": "svc",
          "app.kubernetes.io/component": "shared-proxy",
        },
        sharedProxyServiceAccount: "svc-shared-proxy",
        sharedVipServiceType: "LoadBalancer",
        dedicatedImage: undefined,
        discoveryPort: 50051,
        discoveryBootstrapPort: 50052,
        discoveryService: "svc-controller-discovery",
        discoveryCaMode: "auto",
        discoveryCaSecret: "svc-discovery-ca",
        discoverySvidTtlMs: 86_400_000,
        jwksAllowCidrs: [],
        reconcileMinIntervalMs: 20,
      });
    });

    it("are those of the reference for a proxy", () => {
      expect(proxy(["--shared"])).to.deep.include({
        scope: { kind: "shared" },
        portMap: [],
        accessLog: true,
        accessLogPathMode: "full",
        discoveryEndpoint: { host: "ctl", port: 50051 },
        discoveryBootstrapEndpoint: { host: "ctl", port: 50052 },
        discoverySaTokenPath: "/var/run/secrets/svc/discovery-token/token",
        discoveryCaBundlePath: "/var/run/secrets/svc/trust-bundle/ca.crt",
        proxyBindAddress: undefined,
        proxyAcceptProxyProtocol: false,
        proxyProtocolTrustedCidrs: [],
        proxyWorkers: 0,
        proxyMaxConnections: 50_000,
        proxyMaxConnectionsPerListener: 0,
        proxyShutdownGracePeriodMs: 30_000,
        proxyShutdownTimeoutMs: 5000,
        proxyListenerDrainTimeoutMs: 30_000,
        proxyDefaultRequestTimeoutMs: 0,
        proxyDefaultBackendRequestTimeoutMs: 0,
        proxyConnectTimeoutMs: 5000,
        proxyTlsHandshakeTimeoutMs: 10_000,
        proxyClientHeaderTimeoutMs: 15_000,
        proxyClientBodyTimeoutMs: 60_000,
        proxyClientIdleTimeoutMs: 75_000,
        proxyClientWriteTimeoutMs: 60_000,
        proxyStreamIdleTimeoutMs: 300_000,
        proxyTunnelIdleTimeoutMs: 3_600_000,
        proxyMaxUriSizeBytes: 16_384,
        proxyMaxHeaderSizeBytes: 65_536,
        proxyMaxHeaders: 100,
        proxyUpstreamKeepalivePoolSize: 128,
        proxyRetryBufferSizeBytes: 65_536,
        proxyVia: true,
        proxyTlsMinVersion: "1.2",
        proxyUdpSessionTimeoutMs: 10_000,
      });
    });

    it("differ for standalone where it has no cluster", () => {
      expect(standalone()).to.deep.include({
        manifests: "dir",
        allowExternalName: true,
        portMap: [
          { listenerPort: 80, localPort: 8080 },
          { listenerPort: 443, localPort: 8443 },
        ],
      });
    });

    it("of every flag are values that the flag itself would read", () => {
      for (const { name, type, defaultValue, standaloneDefault } of flagsOf("controller").concat(
        flagsOf("proxy"),
        flagsOf("standalone"),
      )) {
        for (const value of [defaultValue, standaloneDefault]) {
          if (value === undefined || type.format(value) === "none") continue;
          expect(type.parse(type.format(value)), name).to.deep.equal({ ok: true, value });
        }
      }
    });
  });

  describe("sources", () => {
    it("accept a flag in both spellings", () => {
      expect(standalone(["--admin-port", "1"]).adminPort).to.equal(1);
      expect(standalone(["--admin-port=2"]).adminPort).to.equal(2);
    });

    it("accept a switch alone, with a value, and with a word", () => {
      expect(standalone(["--proxy-accept-proxy-protocol"]).proxyAcceptProxyProtocol).to.equal(true);
      expect(standalone(["--access-log=false"]).accessLog).to.equal(false);
      expect(standalone(["--access-log", "False", "--proxy-via=true"])).to.include({
        accessLog: false,
        proxyVia: true,
      });
      expect(standalone(["--access-log", "--proxy-workers", "3"])).to.include({
        accessLog: true,
        proxyWorkers: 3,
      });
    });

    it("let a flag win over its variable, and a variable over the default", () => {
      const env = { SVC_PROXY_WORKERS: "3", SVC_LOG_FORMAT: "console" };
      expect(standalone(["--proxy-workers", "2"], env)).to.include({ proxyWorkers: 2, logFormat: "console" });
    });

    it("take required flags from variables too", () => {
      const read = readStandaloneSettings({ argv: [], env: { SVC_MANIFESTS: "folder" } });
      expect(read.ok && read.value.settings.manifests).to.equal("folder");
    });

    it("take the pod from POD_NAME and POD_NAMESPACE", () => {
      const env = { POD_NAME: "svc-controller-0", POD_NAMESPACE: "edge", SVC_POD_NAME: "other" };
      expect(controller([], env)).to.include({ podName: "svc-controller-0", podNamespace: "edge" });
    });

    it("take the image from SVC_DEDICATED_IMAGE, else from SVC_IMAGE", () => {
      expect(controller([], { SVC_IMAGE: "own:1" }).dedicatedImage).to.equal("own:1");
      expect(controller([], { SVC_IMAGE: "own:1", SVC_DEDICATED_IMAGE: "other:2" }).dedicatedImage).to.equal(
        "other:2",
      );
    });

    it("read an empty variable as unset, but as an empty selector or list where there is one", () => {
      expect(
        controller([], { SVC_STATUS_ADDRESS: "", SVC_SHARED_PROXY_SELECTOR: "", SVC_WATCH_NAMESPACE: "" }),
      ).to.deep.include({
        statusAddress: undefined,
        sharedProxySelector: {},
        watchNamespace: [],
      });
    });

    it("give every flag the variable of its name", () => {
      expect(flags.map(variableOf)).to.include.members([
        "SVC_PROXY_UPSTREAM_KEEPALIVE_POOL_SIZE",
        "SVC_DISCOVERY_ENDPOINT",
        "SVC_ACCESS_LOG_PATH_MODE",
      ]);
    });
  });

  describe("values", () => {
    it("read the types", () => {
      expect(
        standalone([
          "--log=warn,svc_proxy::access=off",
          "--port-map=80=0,8443=9443",
          "--jwks-allow-cidrs=10.0.0.0/8, ::1",
          "--watch-namespace=a,b",
          "--ingress-default-backend=shop/web:http",
          "--default-tls-secret=shop/tls",
          "--status-address=LB.example.com",
          "--proxy-max-uri-size=8k",
          "--proxy-client-idle-timeout=0",
          "--reconcile-min-interval=1.5s",
        ]),
      ).to.deep.include({
        log: { level: "warn", targets: [{ prefix: "svc_proxy::access", level: "off" }] },
        portMap: [
          { listenerPort: 80, localPort: 0 },
          { listenerPort: 8443, localPort: 9443 },
        ],
        jwksAllowCidrs: [
          { family: 4, network: "10.0.0.0", prefixLength: 8 },
          { family: 6, network: "::1", prefixLength: 128 },
        ],
        watchNamespace: ["a", "b"],
        ingressDefaultBackend: { namespace: "shop", name: "web", port: { name: "http" } },
        defaultTlsSecret: { namespace: "shop", name: "tls" },
        statusAddress: "lb.example.com",
        proxyMaxUriSizeBytes: 8192,
        proxyClientIdleTimeoutMs: 0,
        reconcileMinIntervalMs: 1500,
      });
    });

    const refused: readonly (readonly [Role, string, string])[] = [
      ["standalone", "--proxy-workers=x", '--proxy-workers: expected a whole number from 0 to 1024, got "x"'],
      [
        "standalone",
        "--proxy-workers=-1",
        '--proxy-workers: expected a whole number from 0 to 1024, got "-1"',
      ],
      ["standalone", "--admin-port=65536", '--admin-port: expected a port from 0 to 65535, got "65536"'],
      ["standalone", "--access-log=yes", '--access-log: expected true or false, got "yes"'],
      ["standalone", "--log-format=text", '--log-format: expected json or console, got "text"'],
      [
        "standalone",
        "--access-log-path-mode=FULL",
        '--access-log-path-mode: expected full or pattern or none, got "FULL"',
      ],
      [
        "standalone",
        "--management-bind-address=localhost",
        '--management-bind-address: expected an IP address, got "localhost"',
      ],
      ["standalone", "--status-address=", '--status-address: expected an IP address or a DNS name, got ""'],
    ];
    for (const [role, argument, message] of refused) {
      it(`refuse ${argument}`, () => expect(errorOf(role, [argument])).to.equal(message));
    }

    const badValues: readonly (readonly [Role, string])[] = [
      ["standalone", "--log=loud"],
      ["standalone", "--log=info,=debug"],
      ["standalone", "--log=info,a=b=c"],
      ["standalone", "--port-map=80"],
      ["standalone", "--port-map=80=1,80=2"],
      ["standalone", "--port-map=0=80"],
      ["standalone", "--proxy-connect-timeout=5"],
      ["standalone", "--proxy-connect-timeout=25h"],
      ["standalone", "--proxy-connect-timeout=1us"],
      ["standalone", "--proxy-max-uri-size=1"],
      ["standalone", "--proxy-max-headers=0"],
      ["standalone", "--proxy-protocol-trusted-cidrs=10.0.0.0/8,nonsense"],
      ["standalone", "--proxy-tls-min-version=1.1"],
      ["standalone", "--default-tls-secret=tls"],
      ["standalone", "--ingress-default-backend=shop/web"],
      ["standalone", "--controller-name=nonsense"],
      ["controller", "--discovery-svid-ttl=9m"],
      ["controller", "--discovery-svid-ttl=169h"],
      ["controller", "--shared-proxy-selector=a"],
      ["controller", "--shared-proxy-selector=a b=c"],
      ["controller", "--shared-vip-service-type=NodePort"],
      ["proxy", "--discovery-bootstrap-endpoint=a:b"],
    ];
    for (const [role, argument] of badValues) {
      it(`refuse ${argument}`, () => {
        const flag = argument.slice(0, argument.indexOf("="));
        expect(errorOf(role, [argument])).to.match(new RegExp(`^${flag}: expected [^\\n]+, got "`));
      });
    }

    it("name the variable when it is at fault", () => {
      expect(errorOf("standalone", [], { SVC_PROXY_WORKERS: "many" })).to.equal(
        'SVC_PROXY_WORKERS: expected a whole number from 0 to 1024, got "many"',
      );
    });

    it("show a hostile value on one bounded line", () => {
      const message = errorOf("standalone", [`--log-format=a\nb${"c".repeat(10_000)}`]);
      expect(message).to.have.length.below(200);
      expect(message).to.not.include("\n");
    });
  });

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
        "proxy",
        ["--dedicated"],
        "--shared, --dedicated: exactly one of them is required, with --dedicated also the Gateway",
      ],
      ["proxy", ["--gateway-name=g"], "--shared: does not go with --gateway-name or --gateway-namespace"],
    ];
    for (const [role, argv, message] of cases) {
      it(`${role} ${argv.join(" ")}`, () => expect(errorOf(role, argv)).to.equal(message));
    }

    it("report a missing required flag, after mistakes in what was given", () => {
      const missing = readStandaloneSettings({ argv: [], env: {} });
      expect(missing).to.deep.equal({
        ok: false,
        error: { message: "--manifests: required: a path (or set SVC_MANIFESTS)" },
      });
      const both = readStandaloneSettings({ argv: ["--admin-port=x"], env: {} });
      expect(both.ok || both.error.message).to.match(/^--admin-port/);
    });

    it("accept both ports as 0, and no Ingress port at all", () => {
      expect(
        standalone(["--admin-port=0", "--health-port=0", "--ingress-http-port=0", "--ingress-https-port=0"])
          .adminPort,
      ).to.equal(0);
    });
  });

  describe("the scope of a proxy", () => {
    it("is shared, or the one Gateway of a dedicated proxy", () => {
      expect(proxy(["--dedicated", "--gateway-name=web", "--gateway-namespace=shop"]).scope).to.deep.equal({
        kind: "dedicated",
        gateway: { namespace: "shop", name: "web" },
      });
    });

    it("is required", () => {
      const read = readProxySettings({ argv: ["--discovery-endpoint=ctl"], env: {} });
      expect(read.ok).to.equal(false);
    });

    it("is incomplete without the namespace of the Gateway", () => {
      const read = readProxySettings({
        argv: ["--discovery-endpoint=ctl", "--dedicated", "--gateway-name=web"],
        env: {},
      });
      expect(read.ok || read.error.message).to.equal(
        "--dedicated: requires --gateway-name and --gateway-namespace",
      );
    });
  });

  describe("variables that nobody reads", () => {
    const warningsOf = (env: Env): readonly string[] => {
      const read = readStandaloneSettings({ argv: ["--manifests=dir"], env });
      return read.ok ? read.value.warnings : [read.error.message];
    };

    it("give one warning each, in order", () => {
      expect(warningsOf({ SVC_PROXY_WORKRS: "1", SVC_ACCESSLOG: "true", OTHER: "x" })).to.deep.equal([
        "SVC_ACCESSLOG: unknown variable, ignored",
        "SVC_PROXY_WORKRS: unknown variable, ignored",
      ]);
    });

    it("give none when they belong to another role", () => {
      expect(warningsOf({ SVC_DISCOVERY_PORT: "1", SVC_IMAGE: "x", SVC_SHARED: "true" })).to.deep.equal([]);
    });

    it("give none, and set nothing, when Kubernetes made them for a Service", () => {
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

  it("have one property per flag, named after it", () => {
    expect(Object.keys(standalone()).toSorted()).to.deep.equal(
      flagsOf("standalone").map(settingName).toSorted(),
    );
    expect(new Set(flags.map(({ name }) => name)).size).to.equal(flags.length);
  });
});
