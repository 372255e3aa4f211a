/**
 * The arrows of docs/architecture.md ("Packages"): proto <- common <- operator, proto <- common <- proxy, and the
 * command line on top of both. scripts/imports/check.ts runs this; `make test` calls it.
 */

/** Files that are one model or one machine in several parts, and so know each other's types. */
const circles = [
  // The contracts of the request path.
  "^proxy/src/exchange/(client-connection|compiled-route|exchange|filter|listener-view|port-table)\\.ts$",
  // A connection, its streams, and what they share.
  "^proxy/src/http/h1/node/(connection|context|stream)\\.ts$",
  "^proxy/src/upstream/h1/(connection|pool|stream)\\.ts$",
  // A Gateway with its listeners, as planned.
  "^operator/src/translate/gateway/(model|listeners/(frontend-validation|gateways|listener))\\.ts$",
];

module.exports = {
  forbidden: [
    {
      name: "no-circles",
      comment: "Modules that need each other are one module, or hide a third that both need. Types count.",
      severity: "error",
      from: { pathNot: circles },
      to: { circular: true },
    },
    ...circles.map((circle) => ({
      name: "no-larger-circles",
      comment: "The circles that are allowed do not grow.",
      severity: "error",
      from: { path: circle },
      to: { circular: true, via: { pathNot: circle } },
    })),
    {
      name: "no-circles-at-load",
      comment: "Within a circle that is allowed, only types may be imported both ways.",
      severity: "error",
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ["type-only"] } },
    },
    {
      name: "proto-stands-alone",
      comment: "The contract between the processes knows neither of them.",
      severity: "error",
      from: { path: "^proto/" },
      to: { path: "^(common|operator|proxy|cli)/" },
    },
    {
      name: "common-knows-no-process",
      comment: "What both processes share must not depend on one of them.",
      severity: "error",
      from: { path: "^common/" },
      to: { path: "^(operator|proxy|cli)/" },
    },
    {
      name: "operator-knows-no-proxy",
      comment: "Operator and proxy meet in the snapshot (common/src/ir) and nowhere else.",
      severity: "error",
      from: { path: "^operator/" },
      to: { path: "^(proxy|cli)/" },
    },
    {
      name: "proxy-knows-no-operator",
      comment: "Operator and proxy meet in the snapshot (common/src/ir) and nowhere else.",
      severity: "error",
      from: { path: "^proxy/" },
      to: { path: "^(operator|cli)/" },
    },
    {
      name: "sources-know-no-tests",
      severity: "error",
      from: { path: "/src/" },
      to: { path: "(^|/)(test|e2e|bench|scripts)/" },
    },
    {
      name: "translation-is-pure",
      comment: "translate() reads a world and gives a snapshot: no client, no logger, no other layer.",
      severity: "error",
      from: { path: "^operator/src/translate/" },
      to: {
        path: "^(operator|common)/src/",
        pathNot: "^operator/src/(api/|translate/|world\\.ts$)|^common/src/(collections|ir|values|features)/",
      },
    },
    {
      name: "translation-reaches-nothing",
      comment:
        "translate() has no I/O, no clock and no process around it: of Node it may use computation only.",
      severity: "error",
      from: { path: "^operator/src/(translate/|world\\.ts$)", pathNot: "/certificates/tls-secret\\.ts$" },
      to: { dependencyTypes: ["core"], pathNot: "^(crypto|buffer|util)$" },
    },
    {
      name: "certificates-are-only-parsed",
      comment:
        "OpenSSL says whether a certificate and its key can be used; it is asked, no connection is made.",
      severity: "error",
      from: { path: "^operator/src/translate/certificates/tls-secret\\.ts$" },
      to: { dependencyTypes: ["core"], pathNot: "^(crypto|buffer|util|tls)$" },
    },
    {
      name: "validation-reaches-nothing",
      comment: "Validation computes; of the network it only asks what an address looks like (isIP).",
      severity: "error",
      from: { path: "^operator/src/api/" },
      to: { dependencyTypes: ["core"], pathNot: "^(crypto|buffer|util|net)$" },
    },
    {
      name: "files-and-cluster-apart",
      comment: "The sources of worlds do not know each other.",
      severity: "error",
      from: { path: "^operator/src/sources/([^/]+)/" },
      to: { path: "^operator/src/sources/([^/]+)/", pathNot: "^operator/src/sources/$1/" },
    },
    {
      name: "exchange-is-the-seam",
      comment: "Filters and routing see an Exchange, never a codec (docs/architecture.md, rule 6).",
      severity: "error",
      from: { path: "^proxy/src/(filters|routing)/" },
      to: { path: "^proxy/src/http/h[12]/|^(http|http2|net|tls)$" },
    },
    {
      name: "message-is-the-ground-floor",
      comment:
        "The vocabulary of messages knows nothing of its users; it names what an upgraded connection is.",
      severity: "error",
      from: { path: "^proxy/src/message/" },
      to: { path: "^proxy/src/", pathNot: "^proxy/src/(message/|sockets/transport\\.ts$)" },
    },
    {
      name: "resolvable",
      comment:
        "The theme of the site imports packages that only `make docs` installs (scripts/site/package.json).",
      severity: "error",
      from: { pathNot: "^scripts/site/\\.vitepress/" },
      to: { couldNotResolve: true },
    },
    {
      name: "declared",
      comment: "A package that is imported is named in the package.json beside it.",
      severity: "error",
      from: { path: "/src/" },
      to: { dependencyTypes: ["npm-no-pkg", "npm-unknown"] },
    },
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    // Types count: an import of a type is knowledge, too.
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    combinedDependencies: true,
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["import", "node", "default"],
      extensions: [".ts", ".js", ".mjs", ".cjs", ".json"],
    },
  },
};
