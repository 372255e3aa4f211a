/** The translations of all groups of annotations, in the order in which their features are joined. Later ones win. */
import { accessLog } from "./access-log.ts";
import { addresses } from "./addresses.ts";
import { balancing } from "./balancing.ts";
import { backendProtocols } from "./backend-protocol.ts";
import { bodySize } from "./body-size.ts";
import { basicAuth } from "./basic-auth.ts";
import { canaries } from "./canaries.ts";
import { clientCertificates } from "./client-certificates.ts";
import { cors } from "./cors.ts";
import { customHeadersGroup } from "./custom-headers.ts";
import { errors } from "./errors.ts";
import { forwarding } from "./forwarding.ts";
import { fixedSettings } from "./fixed-settings.ts";
import { config } from "./config.ts";
import type { Group } from "./group.ts";
import { urlRedirects } from "./url-redirects.ts";
import { routing } from "./routing.ts";
import { extAuth } from "./ext-auth.ts";
import { hsts } from "./hsts.ts";
import { limits } from "./limits.ts";
import { mirrors } from "./mirrors.ts";
import { redirects } from "./redirects.ts";
import { satisfyAny } from "./satisfy.ts";
import { snippets } from "./snippets.ts";
import { retries } from "./retries.ts";
import { sessions } from "./sessions.ts";
import { timeouts } from "./timeouts.ts";
import { responseRewrites } from "./response-rewrites.ts";
import { upstreamVhostGroup } from "./upstream-vhost.ts";

export const groups: readonly Group[] = [
  urlRedirects,
  config,
  routing,
  redirects,
  bodySize,
  addresses,
  basicAuth,
  extAuth,
  satisfyAny,
  clientCertificates,
  hsts,
  forwarding,
  cors,
  upstreamVhostGroup,
  responseRewrites,
  errors,
  mirrors,
  timeouts,
  retries,
  backendProtocols,
  limits,
  sessions,
  balancing,
  canaries,
  customHeadersGroup,
  accessLog,
  snippets,
  fixedSettings,
];

/** The groups that have an effect on a canary. */
export const groupsOfCanary: readonly Group[] = [sessions, balancing, canaries];
