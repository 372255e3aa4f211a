/** The certificates of all Ingresses and of the settings, kept up to date with the World. */
import { hasChanges } from "@svc-gateway/common/collections/list-changes.ts";
import { authTls } from "@svc-gateway/common/features/auth-tls.ts";
import { annotationKey } from "@svc-gateway/common/features/definition.ts";
import type { SortedEntries } from "@svc-gateway/common/ir/sorted-entries.ts";
import type { ObjectOf } from "../../api/kinds.ts";
import { nameOf } from "../../api/object.ts";
import type { World } from "../../world.ts";
import { createFindings, type FindingsList } from "../incremental/findings-list.ts";
import { changesOf, createGroups } from "../incremental/groups.ts";
import { memo, trackedMemo } from "../incremental/memo.ts";
import { isCanary } from "../ingress-nginx/is-canary.ts";
import { createTracker } from "../incremental/tracker.ts";
import type { TranslateSettings } from "../settings.ts";
import { isOwnCanary } from "./canary.ts";
import type { Classification } from "./classes.ts";
import { planDefaultCertificate } from "./gateway-defaults.ts";
import type { TlsHostTable, TlsClaim } from "./tls-host-table.ts";
import { buildTlsHost, planTls, type TlsPlan } from "./tls.ts";

/** `diagnostics` and `events` are those of the Ingresses and settings, without those of server names. */
export type CertificatesPart = FindingsList & {
  /** The findings about server names. */
  readonly ofHosts: FindingsList;
  /** The server names that at least one Ingress lists. */
  readonly tlsHosts: SortedEntries<TlsHostTable, string>;
};

type Contribution = TlsPlan & { readonly key: string };

/** Keeps the certificates up to date with the World. The result is the same value until something in it changes. */
export function createCertificateTracker(
  settings: TranslateSettings,
): (world: World, classify: (ingress: ObjectOf<"Ingress">) => Classification) => CertificatesPart {
  const track = createTracker({
    inputs: ({ Ingress }) => concerningTls(Ingress),
    compute: (ingress, { ours }: Classification, view): Contribution => {
      const isIgnored =
        ours === undefined ||
        isOwnCanary(ingress) ||
        (ours.nginx !== undefined && isCanary(ingress, ours.nginx));
      const plan = isIgnored ? nothing : planTls(ingress, view, ours.nginx);
      return { ...plan, key: nameOf(ingress.metadata) };
    },
  });
  const defaultCertificateOf = trackedMemo(planDefaultCertificate);
  const hosts = createGroups(({ host }: TlsClaim) => host.host, buildTlsHost);
  const findings = createFindings(({ key }: Contribution) => key);
  const hostFindings = createFindings(({ name }: TlsHostTable) => name.host);
  let defaultCertificate = nothing;
  let last: CertificatesPart | undefined;

  return (world, classify) => {
    const changes = track(world, classify);
    const before = defaultCertificate;
    defaultCertificate = defaultCertificateOf(settings, undefined, world);
    if (last !== undefined && before === defaultCertificate && !hasChanges(changes)) return last;
    const { removed, added } = changesOf(changes, ({ claims }) => claims);
    hostFindings.edit(
      before === defaultCertificate
        ? hosts.edit({ removed, added })
        : hosts.edit({
            removed: [...before.claims, ...removed],
            added: [...defaultCertificate.claims, ...added],
          }),
    );
    findings.edit(changes);
    last = {
      tlsHosts: hosts.entries,
      diagnostics: [...defaultCertificate.diagnostics, ...findings.list.diagnostics],
      events: findings.list.events,
      ofHosts: hostFindings.list,
    };
    return last;
  };
}

const nothing: TlsPlan = { claims: [], diagnostics: [], events: [] };

const authTlsKeys = Object.values(authTls.annotations).map(annotationKey);

/** The suffix of the key of ingress-nginx's annotation, whose prefix a flag can change. */
const nginxSecretKey = "/auth-tls-secret";

const concernsTls = ({ spec, metadata: { annotations = {} } }: ObjectOf<"Ingress">): boolean =>
  spec?.tls !== undefined ||
  authTlsKeys.some((key) => Object.hasOwn(annotations, key)) ||
  Object.keys(annotations).some((key) => key.endsWith(nginxSecretKey));

/** The Ingresses with TLS settings. TLS of most Ingresses is terminated elsewhere, and nothing is kept for them. */
const concerningTls = memo((all: readonly ObjectOf<"Ingress">[]) => all.filter(concernsTls));
