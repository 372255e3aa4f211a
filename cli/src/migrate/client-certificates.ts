/** Plans the rules of Ingresses for client certificates: the owner of each rule, and the Secret that it can name. */
import { authTls, parseErrorPage, parseSubject } from "@svc-gateway/common/features/auth-tls.ts";
import { annotationKey } from "@svc-gateway/common/features/definition.ts";
import type { ClientRules } from "@svc-gateway/common/ir/client-certificate.ts";
import { sha256Hex } from "@svc-gateway/common/ir/resource.ts";
import { formatNamespacedName } from "@svc-gateway/common/values/namespaced-name.ts";
import type { ObjectOf } from "@svc-gateway/operator/api/kinds.ts";
import { nameOf } from "@svc-gateway/operator/api/object.ts";
import {
  isForAuthorities,
  readPlainAuthorities,
} from "@svc-gateway/operator/translate/certificates/authorities.ts";
import type { World } from "@svc-gateway/operator/world.ts";
import type { ServedUnit } from "./served-units.ts";
import type { Note } from "./written.ts";

/** The rules of one Ingress, and how they can be written. */
export type ClientPlan = {
  readonly rules: ClientRules;
  /** The Secret with the authorities; undefined if nothing must be written, or no Secret can be named. */
  readonly secret: ObjectOf<"Secret"> | undefined;
  /** The reason why the rules cannot be written; if there is one, no client is admitted. */
  readonly problem: string | undefined;
};

export type ClientPlans = {
  /** The rules of an Ingress (`namespace/name`); undefined if it has none. */
  of(ingress: string): ClientPlan | undefined;
  /** The notes about unwritten rules for the clients of a path, which can be those of another Ingress. */
  notesOf(unit: ServedUnit): readonly Note[];
  /** The Secrets (`namespace/name`) that rules name and that lack the label. */
  readonly unlabelled: readonly string[];
};

type Options = {
  readonly units: readonly ServedUnit[];
  readonly ingresses: readonly ObjectOf<"Ingress">[];
  readonly world: Pick<World, "Secret">;
  /** Whether an annotation is of ingress-nginx. */
  readonly isForeign: (key: string) => boolean;
};

const ownKey = annotationKey(authTls.annotations.authTlsSecret);

const ownerOf = (ingress: string): string => `ingress/${ingress}`;

/** Plans the rules. They are the same on all hosts and paths of an Ingress, except that only those of hosts forward. */
export function planClients({ units, ingresses, world, isForeign }: Options): ClientPlans {
  const plans = new Map<string, ClientPlan>();
  const secretsOf = createSecretFinder(world);
  for (const ingress of ingresses) {
    const name = nameOf(ingress.metadata);
    const own = units.filter(({ ingress: of }) => of === name);
    const rules = own
      .flatMap(({ route, ofHost }) => [route.clients, ofHost.clients])
      .filter((one) => one?.owner === ownerOf(name));
    const [first] = rules;
    if (first === undefined) continue;
    // Annotations of this gateway are kept as written.
    if (Object.hasOwn(ingress.metadata.annotations ?? {}, ownKey)) {
      plans.set(ownerOf(name), { rules: first, secret: undefined, problem: undefined });
      continue;
    }
    const forwards = rules.some((one) => one?.forward === true);
    plans.set(
      ownerOf(name),
      planOf({ ...first, forward: forwards ? true : undefined }, ingress, { secretsOf, isForeign }),
    );
  }
  const named = [...plans.values()].flatMap(({ secret, problem }) =>
    problem === undefined && secret ? [secret] : [],
  );
  return {
    of: (ingress) => plans.get(ownerOf(ingress)),
    notesOf: ({ route, ofHost }) => [
      ...notesAbout("host.clients", ofHost.clients, plans),
      ...notesAbout("clients", route.clients, plans),
    ],
    unlabelled: [
      ...new Set(named.filter((one) => !isForAuthorities(one)).map(({ metadata }) => nameOf(metadata))),
    ],
  };
}

type Finder = Pick<Options, "isForeign"> & { readonly secretsOf: ReturnType<typeof createSecretFinder> };

function planOf(rules: ClientRules, ingress: ObjectOf<"Ingress">, finder: Finder): ClientPlan {
  const lost = (problem: string, secret?: ObjectOf<"Secret">): ClientPlan => ({ rules, secret, problem });
  if (rules.authorities === undefined) return lost("No client certificate can be verified");
  const secret = findSecret(rules.authorities, ingress, finder);
  if (secret === undefined) return lost("The Secret with the authorities cannot be found");
  const { type = "Opaque" } = secret;
  if (type !== "Opaque") {
    const named = formatNamespacedName(secret.metadata);
    return lost(`Secret ${named} is of type ${type}, expected Opaque`, secret);
  }
  const { subject } = rules.byRequest ?? {};
  // An annotation is trimmed, so the regular expression must not depend on blanks at its ends.
  if (subject !== undefined && (subject !== subject.trim() || !parseSubject(subject).ok)) {
    return lost(
      "The regular expression for subjects has a blank at an end, or other characters than ASCII",
      secret,
    );
  }
  return { rules, secret, problem: undefined };
}

/** Creates a function that finds Secrets by the id of their authorities. */
function createSecretFinder({
  Secret,
}: Pick<World, "Secret">): (authorities: string) => readonly ObjectOf<"Secret">[] {
  const byId = Map.groupBy(Secret, (secret) => {
    const read = readPlainAuthorities(secret);
    return read.ok ? sha256Hex(read.value) : "";
  });
  return (authorities) => byId.get(authorities) ?? [];
}

/** Finds the Secret that the Ingress names, or one in its namespace with the authorities that a class names. */
function findSecret(
  authorities: string,
  { metadata }: ObjectOf<"Ingress">,
  { secretsOf, isForeign }: Finder,
): ObjectOf<"Secret"> | undefined {
  const written = Object.entries(metadata.annotations ?? {}).find(
    ([key]) => isForeign(key) && key.endsWith("/auth-tls-secret"),
  )?.[1];
  const fitting = secretsOf(authorities);
  return (
    fitting.find((one) => nameOf(one.metadata) === written?.trim()) ??
    fitting.find((one) => one.metadata.namespace === metadata.namespace)
  );
}

function notesAbout(
  property: "clients" | "host.clients",
  rules: ClientRules | undefined,
  plans: ReadonlyMap<string, ClientPlan>,
): readonly Note[] {
  if (rules === undefined) return [];
  const plan = plans.get(rules.owner);
  const problem =
    plan === undefined ? "The Ingress that asks for client certificates serves no path" : plan.problem;
  if (problem !== undefined) {
    return [
      {
        property,
        loss: "lost",
        text: `${problem}; every request that is not redirected is answered 403`,
        closes: true,
      },
    ];
  }
  return isWritable(rules.byRequest?.errorPage)
    ? []
    : [
        {
          property: `${property}.byRequest.errorPage`,
          loss: "lost",
          text: "The error page is neither a URL nor a path that can be written; clients are answered 400",
        },
      ];
}

/** Whether the error page can be written. */
export const isWritable = (page: string | undefined): boolean =>
  page === undefined || parseErrorPage(page).ok;
