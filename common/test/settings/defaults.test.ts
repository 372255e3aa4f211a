import { expect } from "chai";
import { flagsOf, readStandaloneSettings } from "../../src/settings/settings.ts";
import { controller, proxy, standalone } from "./readers.ts";

describe("settings: defaults", () => {
  it("the defaults of a controller are those of the reference", () => {
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
      classParametersStrict: false,
      hostOwnership: "off",
      ingressNginxClasses: [],
      ingressNginxWatchWithoutClass: false,
      ingressNginxAnnotationsPrefix: "nginx.ingress.kubernetes.io",
      ingressNginxConfigmap: undefined,
      ingressNginxUpdateStatus: false,
      ingressNginxFallbackCertificate: false,
      ingressNginxSslPassthrough: false,
      ingressNginxExternalAuth: false,
      ingressNginxSharedServices: [],
      ingressNginxDisableCatchAll: false,
      ingressNginxRequireBackendVerification: false,
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
      dedicatedPodTemplate: undefined,
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

  it("a standalone process has its management ports on loopback and a log format for its reader", () => {
    expect(standalone()).to.include({ managementBindAddress: "127.0.0.1", logFormat: "json" });
    const read = readStandaloneSettings({
      argv: ["--manifests", "dir"],
      env: {},
      output: { isTerminal: true, hasColours: true },
    });
    expect(read.ok && read.value.settings.logFormat).to.equal("terminal");
  });

  it("the defaults of a proxy are those of the reference", () => {
    expect(proxy(["--shared"])).to.deep.include({
      scope: { kind: "shared" },
      portMap: [],
      accessLog: true,
      accessLogPathMode: "full",
      accessLogFormat: undefined,
      accessLogFields: [],
      accessLogConnections: false,
      requestIdHeader: undefined,
      requestIdTrustedCidrs: [],
      tracingEndpoint: undefined,
      tracingProtocol: "grpc",
      tracingHeadersPath: undefined,
      tracingCaBundlePath: undefined,
      tracingServiceName: "svc-gateway",
      tracingRatio: 1,
      tracingFollowCaller: true,
      tracingTrustedCidrs: [],
      discoveryEndpoint: { host: "ctl", port: 50051 },
      discoveryBootstrapEndpoint: { host: "ctl", port: 50052 },
      discoverySaTokenPath: "/var/run/secrets/svc/discovery-token/token",
      discoveryCaBundlePath: "/var/run/secrets/svc/trust-bundle/ca.crt",
      proxyBindAddress: undefined,
      proxyAcceptProxyProtocol: false,
      proxyProtocolTrustedCidrs: [],
      proxyWorkers: 0,
      proxyMaxConnections: 0,
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
      http2Codec: "native",
      proxyUdpSessionTimeoutMs: 10_000,
    });
  });

  it("the defaults of standalone differ where it has no cluster", () => {
    expect(standalone()).to.deep.include({
      manifests: "dir",
      allowExternalName: true,
      portMap: [
        { listenerPort: 80, localPort: 8080 },
        { listenerPort: 443, localPort: 8443 },
      ],
    });
  });

  it("the default of every flag is a value that the flag accepts", () => {
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
