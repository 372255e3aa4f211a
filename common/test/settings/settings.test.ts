import { expect } from "chai";
import type { Role } from "../../src/settings/flag.ts";
import { variableOf } from "../../src/settings/flag.ts";
import { flags } from "../../src/settings/flags.ts";
import { settingName } from "../../src/settings/read-flags.ts";
import { flagsOf, readStandaloneSettings } from "../../src/settings/settings.ts";
import { controller, errorOf, standalone } from "./readers.ts";

describe("settings", () => {
  describe("sources", () => {
    it("a flag may be written with a space or an equals sign", () => {
      expect(standalone(["--admin-port", "1"]).adminPort).to.equal(1);
      expect(standalone(["--admin-port=2"]).adminPort).to.equal(2);
    });

    it("a switch may be given alone, with a value, or with a following word", () => {
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

    it("a flag overrides its variable, and a variable the default", () => {
      const env = { SVC_PROXY_WORKERS: "3", SVC_LOG_FORMAT: "console" };
      expect(standalone(["--proxy-workers", "2"], env)).to.include({ proxyWorkers: 2, logFormat: "console" });
    });

    it("a required flag may come from its variable", () => {
      const read = readStandaloneSettings({ argv: [], env: { SVC_MANIFESTS: "folder" } });
      expect(read.ok && read.value.settings.manifests).to.equal("folder");
    });

    it("the pod is read from POD_NAME and POD_NAMESPACE", () => {
      const env = { POD_NAME: "svc-controller-0", POD_NAMESPACE: "edge", SVC_POD_NAME: "other" };
      expect(controller([], env)).to.include({ podName: "svc-controller-0", podNamespace: "edge" });
    });

    it("the image is read from SVC_DEDICATED_IMAGE, else from SVC_IMAGE", () => {
      expect(controller([], { SVC_IMAGE: "own:1" }).dedicatedImage).to.equal("own:1");
      expect(controller([], { SVC_IMAGE: "own:1", SVC_DEDICATED_IMAGE: "other:2" }).dedicatedImage).to.equal(
        "other:2",
      );
    });

    it("the pod template of dedicated proxies is a JSON object", () => {
      const template = { spec: { priorityClassName: "edge" } };
      const { dedicatedPodTemplate } = controller([`--dedicated-pod-template=${JSON.stringify(template)}`]);
      expect(dedicatedPodTemplate).to.deep.equal(template);
    });

    it("an empty variable counts as unset, except for selectors and lists", () => {
      expect(
        controller([], { SVC_STATUS_ADDRESS: "", SVC_SHARED_PROXY_SELECTOR: "", SVC_WATCH_NAMESPACE: "" }),
      ).to.deep.include({
        statusAddress: undefined,
        sharedProxySelector: {},
        watchNamespace: [],
      });
    });

    it("every flag has the variable of its name", () => {
      expect(flags.map(variableOf)).to.include.members([
        "SVC_PROXY_UPSTREAM_KEEPALIVE_POOL_SIZE",
        "SVC_DISCOVERY_ENDPOINT",
        "SVC_ACCESS_LOG_PATH_MODE",
      ]);
    });
  });

  describe("values", () => {
    it("the values of all types of flags are read", () => {
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
      ["standalone", "--log-format=text", '--log-format: expected auto or json or console, got "text"'],
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
      it(`the flag ${argument} is rejected with its expected form`, () =>
        expect(errorOf(role, [argument])).to.equal(message));
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
      it(`the flag ${argument} is rejected`, () => {
        const flag = argument.slice(0, argument.indexOf("="));
        expect(errorOf(role, [argument])).to.match(new RegExp(`^${flag}: expected [^\\n]+, got "`));
      });
    }

    it("the error names the variable when its value is invalid", () => {
      expect(errorOf("standalone", [], { SVC_PROXY_WORKERS: "many" })).to.equal(
        'SVC_PROXY_WORKERS: expected a whole number from 0 to 1024, got "many"',
      );
    });

    it("a hostile value is shown on one line of limited length", () => {
      const message = errorOf("standalone", [`--log-format=a\nb${"c".repeat(10_000)}`]);
      expect(message).to.have.length.below(200);
      expect(message).to.not.include("\n");
    });
  });

  it("the settings have one property per flag, named after it", () => {
    expect(Object.keys(standalone()).toSorted()).to.deep.equal(
      flagsOf("standalone").map(settingName).toSorted(),
    );
    expect(new Set(flags.map(({ name }) => name)).size).to.equal(flags.length);
  });
});
