import { existsSync, readFileSync } from "node:fs";
import { expect } from "chai";
import { namespace } from "../deploy/release.ts";
import { ask } from "../support/api.ts";
import { waitUntilWhole } from "../support/pods.ts";
import { provider } from "../support/provider.ts";

type AuditEvent = {
  readonly requestReceivedTimestamp: string;
  readonly verb: string;
  readonly user: { readonly username: string };
  readonly objectRef?: {
    readonly resource: string;
    readonly apiGroup?: string;
    readonly subresource?: string;
    readonly namespace?: string;
  };
  readonly responseStatus?: { readonly code?: number };
};

type Role = {
  readonly metadata: { readonly creationTimestamp: string };
  readonly rules: readonly {
    readonly apiGroups: readonly string[];
    readonly resources: readonly string[];
    readonly verbs: readonly string[];
  }[];
};

const roles = "/apis/rbac.authorization.k8s.io/v1";

/** What is asked for only when things go another way than in these tests, and when that is. */
const rarely: Readonly<Record<string, string>> = {
  "certificates.k8s.io/clustertrustbundles list": "where the API server serves them",
  "certificates.k8s.io/clustertrustbundles watch": "where the API server serves them",
  "networking.k8s.io/ingresses get": "when somebody else has changed a status at the same moment",
  "events.k8s.io/events get": "when another leader has told of it before",
  "events.k8s.io/events patch": "when something has lasted for a minute",
  [`/configmaps patch, in ${namespace}`]: "when the certificate authority is replaced",
  [`/secrets patch, in ${namespace}`]: "when the certificate authority is replaced",
};

/**
 * Everything that the installation has asked of the API server, against what its roles grant.
 * It runs late, when the other tests have made the controllers do all that they do.
 */
describe("the permissions of the chart", () => {
  let events: readonly AuditEvent[];

  before(async function () {
    await waitUntilWhole();
    const file = await provider("audit-log");
    // kind records nothing.
    if (!existsSync(file)) return this.skip();
    // An installation that was here before lost its rights a moment before it ended.
    const { metadata } = await ask<Role>(`${roles}/clusterroles/${namespace}-svc-controller`);
    const sinceMs = Date.parse(metadata.creationTimestamp);
    const ofNamespace = `system:serviceaccount:${namespace}:`;
    events = readFileSync(file, "utf8")
      .split("\n")
      .filter((line) => line.includes(ofNamespace))
      .map((line) => JSON.parse(line) as AuditEvent)
      .filter(
        ({ user, objectRef, requestReceivedTimestamp }) =>
          user.username.startsWith(ofNamespace) &&
          objectRef !== undefined &&
          Date.parse(requestReceivedTimestamp) >= sinceMs,
      );
  });

  /** `group/resource verb` as in a rule of a role. */
  const permissionOf = ({ verb, objectRef }: AuditEvent): string => {
    const { apiGroup = "", resource = "", subresource } = objectRef ?? {};
    return `${apiGroup}/${resource}${subresource === undefined ? "" : `/${subresource}`} ${verb}`;
  };

  const granted = async (path: string): Promise<ReadonlySet<string>> => {
    const { rules } = await ask<Role>(`${roles}/${path}`);
    return new Set(
      rules.flatMap(({ apiGroups, resources, verbs }) =>
        apiGroups.flatMap((group) =>
          resources.flatMap((resource) => verbs.map((verb) => `${group}/${resource} ${verb}`)),
        ),
      ),
    );
  };

  it("are enough: nothing was refused", () => {
    const refused = events.filter(({ responseStatus }) => responseStatus?.code === 403).map(permissionOf);
    expect([...new Set(refused)]).to.deep.equal([]);
    expect(events.length).to.be.above(0);
  });

  it("are needed: nothing is granted that was not asked for", async () => {
    const [everywhere, here] = await Promise.all([
      granted(`clusterroles/${namespace}-svc-controller`),
      granted(`namespaces/${namespace}/roles/svc-controller`),
    ]);
    const used = new Set(
      events.map((event) => {
        const permission = permissionOf(event);
        const isHere = event.objectRef?.namespace === namespace && here.has(permission);
        return isHere && !everywhere.has(permission) ? `${permission}, in ${namespace}` : permission;
      }),
    );
    const all = [...everywhere, ...[...here].map((permission) => `${permission}, in ${namespace}`)];
    const unused = all.filter((permission) => !used.has(permission) && rarely[permission] === undefined);
    expect(unused).to.deep.equal([]);
  });

  it("are those of the controllers: nobody else of the installation asks for anything", () => {
    const others = events
      .filter(({ user }) => user.username !== `system:serviceaccount:${namespace}:svc-controller`)
      .map((event) => `${event.user.username} ${permissionOf(event)}`);
    expect([...new Set(others)]).to.deep.equal([]);
  });
});
