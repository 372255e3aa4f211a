/**
 * Reads the podTemplate of SvcGatewayParameters, without everything that would weaken the pod: permission to
 * write parameters must not be enough to create a privileged pod. See docs/dedicated-gateways.md, "Pod template".
 */
import { fail, ok, type Result } from "@svc-gateway/common/values/result.ts";
import { isObject, type JsonObject } from "./json.ts";
import { withoutRuntimeAnnotations } from "../infrastructure.ts";
import { ownLabelKeys } from "../names.ts";
import { proxyContainer, renderedVolumes, secretsPath } from "./pod-parts.ts";

/** The parts of a podTemplate that may be merged into the pod template. */
export type Overlay = {
  readonly template: JsonObject;
  /** The paths of omitted parts, such as `spec.hostNetwork`. */
  readonly ignored: readonly string[];
};

/** Fields of a pod that keep their rendered values. */
const fixedFields: ReadonlySet<string> = new Set([
  "automountServiceAccountToken",
  "enableServiceLinks",
  "ephemeralContainers",
  "hostIPC",
  "hostNetwork",
  "hostPID",
  "nodeName",
  "securityContext",
  "serviceAccount",
  "serviceAccountName",
  "shareProcessNamespace",
]);

/** Types of volumes that give no access to the node. */
const volumeTypes: ReadonlySet<string> = new Set([
  "configMap",
  "csi",
  "downwardAPI",
  "emptyDir",
  "ephemeral",
  "persistentVolumeClaim",
  "projected",
  "secret",
]);

/** The security settings that containers besides the proxy may have. None of them adds privileges. */
const securityFields: ReadonlySet<string> = new Set([
  "readOnlyRootFilesystem",
  "runAsGroup",
  "runAsNonRoot",
  "runAsUser",
]);

/**
 * Reads a podTemplate; returns undefined if it is absent. The error names a part whose shape is not valid in a
 * pod template.
 */
export function overlayOf(podTemplate: unknown): Result<Overlay | undefined, string> {
  if (podTemplate === undefined || podTemplate === null) return ok(undefined);
  const malformed = findMalformed(podTemplate);
  if (malformed !== undefined) return fail(malformed);
  const ignored: string[] = [];
  // Checked above.
  const { metadata, spec, ...others } = podTemplate as { metadata?: JsonObject; spec?: JsonObject };
  ignored.push(...Object.keys(others));
  const template = {
    ...(metadata !== undefined && { metadata: sanitizeMetadata(metadata, ignored) }),
    ...(spec !== undefined && { spec: sanitizeSpec(spec, ignored) }),
  };
  return ok({ template, ignored });
}

/**
 * Reads the podTemplate of the flag `--dedicated-pod-template`. It has the same limits, except that it may set
 * the ids of the pod or leave them to the cluster. Its author can correct it immediately, so a field that would
 * be omitted is an error. An undefined podTemplate is an empty one.
 */
export function baseTemplateOf(podTemplate: unknown): Result<JsonObject, string> {
  const overlay = overlayOf(podTemplate);
  if (!overlay.ok) return overlay;
  const { template = {}, ignored = [] } = overlay.value ?? {};
  const isIds = ignored.includes(securityPath);
  const others = ignored.filter((path) => path !== securityPath);
  if (others.length > 0)
    return fail(`${others.join(", ")} cannot be set for dedicated proxies, expected other fields`);
  if (!isIds) return ok(template);
  // Checked above.
  const { spec } = podTemplate as { spec: JsonObject };
  const ids = readIds(spec["securityContext"]);
  if (!ids.ok) return fail(`${securityPath}${ids.error}`);
  const kept = template["spec"];
  return ok({ ...template, spec: { ...(isObject(kept) && kept), securityContext: ids.value } });
}

const securityPath = "spec.securityContext";

/** The lowest value of each id. The pod never runs as root, but may be in the root group, as pods of OpenShift are. */
const lowestIds: Readonly<Record<string, number>> = { runAsUser: 1, runAsGroup: 0, fsGroup: 0 };
const highestId = 2 ** 31 - 1;

/**
 * Reads the ids of a security context; null leaves an id to the cluster. The error text continues the path of
 * the security context.
 */
function readIds(context: unknown): Result<JsonObject, string> {
  if (!isObject(context)) return fail(" must be an object");
  for (const [field, id] of Object.entries(context)) {
    const lowest = Object.hasOwn(lowestIds, field) ? lowestIds[field] : undefined;
    if (lowest === undefined)
      return fail(`.${field} cannot be set for dedicated proxies, expected runAsUser, runAsGroup or fsGroup`);
    const isId = Number.isInteger(id) && Number(id) >= lowest && Number(id) <= highestId;
    if (id !== null && !isId)
      return fail(`.${field} is ${clipped(id)}, expected a number from ${lowest} to ${highestId} or null`);
  }
  return ok(context);
}

const clipped = (value: unknown): string => JSON.stringify(value).slice(0, 40);

function sanitizeMetadata(metadata: JsonObject, ignored: string[]): JsonObject {
  const kept: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(metadata)) {
    if (field === "annotations" && isObject(value)) {
      // Checked to be strings.
      const annotations = withoutRuntimeAnnotations(value as Record<string, string>, "metadata.annotations");
      kept[field] = annotations.kept;
      ignored.push(...annotations.ignored);
    } else if (field === "annotations") kept[field] = value;
    else if (field !== "labels" || !isObject(value)) ignored.push(`metadata.${field}`);
    else {
      const labels = Object.entries(value).filter(([key]) => {
        const isOwn = ownLabelKeys.has(key);
        if (isOwn) ignored.push(`metadata.labels[${key}]`);
        return !isOwn;
      });
      kept[field] = Object.fromEntries(labels);
    }
  }
  return kept;
}

function sanitizeSpec(spec: JsonObject, ignored: string[]): JsonObject {
  const kept: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(spec)) {
    const path = `spec.${field}`;
    if (fixedFields.has(field) || field.startsWith("$")) ignored.push(path);
    else if (field === "volumes") {
      kept[field] = entriesOf(value).filter((volume) => isHarmless(volume, path, ignored));
    } else if (field === "containers" || field === "initContainers") {
      kept[field] = entriesOf(value).map((container) => sanitizeContainer(container, field, ignored));
    } else kept[field] = value;
  }
  return kept;
}

function isHarmless(volume: JsonObject, path: string, ignored: string[]): boolean {
  const name = String(volume["name"]);
  const types = Object.keys(volume).filter((field) => field !== "name");
  const isAllowed = !renderedVolumes.has(name) && types.every((type) => volumeTypes.has(type));
  if (!isAllowed) ignored.push(`${path}[${name}]`);
  return isAllowed;
}

function sanitizeContainer(container: JsonObject, list: string, ignored: string[]): JsonObject {
  const isProxy = list === "containers" && container["name"] === proxyContainer;
  const path = `spec.${list}[${String(container["name"])}]`;
  const kept: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(container)) {
    const at = `${path}.${field}`;
    if (field.startsWith("$")) ignored.push(at);
    else if (field === "ports")
      kept[field] = entriesOf(value).map((port) => withoutHostPort(port, at, ignored));
    else if (field === "volumeMounts" && isProxy) {
      kept[field] = entriesOf(value).filter((mount) => isElsewhere(mount, at, ignored));
    } else if (hooks.has(field)) kept[field] = withoutHosts(value, at, ignored);
    else if (field !== "securityContext") kept[field] = value;
    else if (isProxy) ignored.push(at);
    else kept[field] = sanitizeSecurity(value, at, ignored);
  }
  return isProxy ? kept : { ...kept, securityContext: unprivileged(kept["securityContext"]) };
}

/** Fields of containers that make the kubelet of the node open connections. */
const hooks: ReadonlySet<string> = new Set(["lifecycle", "livenessProbe", "readinessProbe", "startupProbe"]);

/** Removes hosts that the template names: probes and hooks are sent to the pod. */
function withoutHosts(value: unknown, path: string, ignored: string[]): unknown {
  if (!isObject(value)) return value;
  const kept: Record<string, unknown> = {};
  for (const [field, inner] of Object.entries(value)) {
    const at = `${path}.${field}`;
    if (field === "host" && inner !== null) ignored.push(at);
    else kept[field] = withoutHosts(inner, at, ignored);
  }
  return kept;
}

function withoutHostPort(port: JsonObject, path: string, ignored: string[]): JsonObject {
  const { hostPort, hostIP, ...kept } = port;
  const name = `${path}[${String(port["containerPort"])}]`;
  if (hostPort !== undefined) ignored.push(`${name}.hostPort`);
  if (hostIP !== undefined) ignored.push(`${name}.hostIP`);
  return kept;
}

/** Whether a mount does not cover the token and the trust bundle of the proxy. */
function isElsewhere(mount: JsonObject, path: string, ignored: string[]): boolean {
  const at = `${String(mount["mountPath"])}/`.replace(/\/+/g, "/");
  const covers = at.startsWith(`${secretsPath}/`) || `${secretsPath}/`.startsWith(at);
  if (covers) ignored.push(`${path}[${String(mount["mountPath"])}]`);
  return !covers;
}

function sanitizeSecurity(value: unknown, path: string, ignored: string[]): JsonObject {
  const kept: Record<string, unknown> = {};
  for (const [field, wanted] of Object.entries(isObject(value) ? value : {})) {
    const isHarmful = field === "runAsNonRoot" ? wanted === false : field === "runAsUser" && wanted === 0;
    if (securityFields.has(field) && !isHarmful) kept[field] = wanted;
    else if (!isImplied(field, wanted)) ignored.push(`${path}.${field}`);
  }
  return kept;
}

/** Whether the value is rendered in any case, so that its omission is not reported. */
const isImplied = (field: string, wanted: unknown): boolean =>
  ((field === "allowPrivilegeEscalation" || field === "privileged") && wanted === false) ||
  (field === "capabilities" && isObject(wanted) && Object.keys(wanted).join() === "drop") ||
  (field === "seccompProfile" && isObject(wanted) && wanted["type"] === "RuntimeDefault");

const unprivileged = (present: unknown): JsonObject => ({
  ...(isObject(present) ? present : {}),
  runAsNonRoot: true,
  allowPrivilegeEscalation: false,
  capabilities: { drop: ["ALL"] },
});

/** Describes the first part of a podTemplate that does not have the shape of a pod template; undefined if there is none. */
function findMalformed(podTemplate: unknown): string | undefined {
  if (!isObject(podTemplate)) return expected("podTemplate", "an object");
  const { metadata, spec } = podTemplate;
  if (metadata !== undefined && !isObject(metadata)) return expected("podTemplate.metadata", "an object");
  if (spec !== undefined && !isObject(spec)) return expected("podTemplate.spec", "an object");
  for (const field of ["labels", "annotations"]) {
    const texts = metadata?.[field];
    const isFine =
      texts === undefined ||
      (isObject(texts) && Object.values(texts).every((text) => typeof text === "string"));
    if (!isFine) return expected(`podTemplate.metadata.${field}`, "a map of strings");
  }
  for (const [field, key] of [
    ["containers", "name"],
    ["initContainers", "name"],
    ["volumes", "name"],
  ] as const) {
    const path = `podTemplate.spec.${field}`;
    const problem = findMalformedList(spec?.[field], path, key, "string");
    if (problem !== undefined) return problem;
    if (field === "volumes") continue;
    for (const container of entriesOf(spec?.[field])) {
      const at = `${path}[${String(container["name"])}]`;
      const inner =
        findMalformedList(container["ports"], `${at}.ports`, "containerPort", "number") ??
        findMalformedList(container["volumeMounts"], `${at}.volumeMounts`, "mountPath", "string") ??
        findMalformedList(container["env"], `${at}.env`, "name", "string");
      if (inner !== undefined) return inner;
    }
  }
  return undefined;
}

function findMalformedList(
  value: unknown,
  path: string,
  key: string,
  type: "string" | "number",
): string | undefined {
  if (value === undefined) return undefined;
  if (!Array.isArray(value)) return expected(path, "a list");
  const index = value.findIndex((entry) => !isObject(entry) || typeof entry[key] !== type);
  return index < 0
    ? undefined
    : expected(`${path}[${index}].${key}`, type === "string" ? "a string" : "a number");
}

const expected = (path: string, what: string): string => `${path} must be ${what}`;

/** The entries of a list whose shape has been checked. */
const entriesOf = (list: unknown): readonly JsonObject[] =>
  Array.isArray(list) ? list.filter(isObject) : [];
