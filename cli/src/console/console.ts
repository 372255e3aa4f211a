/** The server of the console: its sign-in and its port (docs/console.md). */
import { readFile } from "node:fs/promises";
import type { AdminAccess } from "@svc-gateway/common/admin/admin-app.ts";
import { startBoundedServer, type BoundedServer } from "@svc-gateway/common/admin/bounded-server.ts";
import type { StandaloneSettings } from "@svc-gateway/common/settings/settings.ts";
import type { Logger } from "@svc-gateway/common/telemetry/logger.ts";
import { monotonicClock } from "@svc-gateway/common/time/clock.ts";
import { formatIpPort } from "@svc-gateway/common/values/ip-address.ts";
import { fail, ok, type Result } from "@svc-gateway/common/values/result.ts";
import type { Output } from "../command.ts";
import { checkFixedToken, createOneTimeTokens, createSignIn, type CheckToken } from "./access/sign-in.ts";
import { createConsoleApp } from "./console-app.ts";
import type { ConsoleSource } from "./console-source.ts";
import { createExplainer } from "./explainer.ts";
import { createTrafficKeeper } from "./traffic.ts";

export type ConsoleSettings = Pick<
  StandaloneSettings,
  "adminUi" | "adminUiPort" | "adminUiBindAddress" | "adminUiHosts" | "adminUiTokenFile"
>;

export type ConsoleOptions = {
  readonly settings: ConsoleSettings;
  readonly source: ConsoleSource;
  /** Reviews tokens of the cluster; undefined if there is no cluster, or tokens are not reviewed. */
  readonly access?: AdminAccess | undefined;
  /** The output for the person who started the process. */
  readonly err: Output;
  readonly log: Logger;
  /** Selects peers, by address, whose connections are closed immediately. */
  readonly isRefusedPeer?: (ip: string) => boolean;
};

export type RunningConsole = { readonly port: number; close(): Promise<void> };

/** The path that a user must be allowed to `get` (SubjectAccessReview, non-resource URL). */
const reviewedPath = "/console";

const hourMs = 60 * 60_000;
/** The length of a session for a token of the cluster, short because permissions can be revoked there. */
const reviewedSessionMs = hourMs;
const sessionMs = 12 * hourMs;

const minTokenLength = 16;
/** The time limit for a response, which can wait for the explainer and for counters. */
const timeLimitMs = 30_000;

/** Starts the console if it is enabled. Fails with one line when no sign-in is possible, or its port is taken. */
export async function startConsole(
  options: ConsoleOptions,
): Promise<Result<RunningConsole | undefined, string>> {
  const { settings, source, log, isRefusedPeer = () => false } = options;
  if (!settings.adminUi) return ok(undefined);
  let port = settings.adminUiPort;
  const way = wayToSignIn(options, () => port);
  if (!way.ok) return way;
  const explainer = createExplainer({ portMap: source.portMap });
  const { traffic } = source;
  const app = createConsoleApp({
    source,
    signIn: createSignIn({ check: way.value.check, sessionMs: way.value.sessionMs, clock: monotonicClock }),
    signInHint: way.value.hint,
    explainer,
    traffic: traffic && createTrafficKeeper(traffic, performance.now()),
    hosts: settings.adminUiHosts,
    nowMs: Date.now,
    log,
  });
  const server: Result<BoundedServer> = await startBoundedServer(app, {
    host: settings.adminUiBindAddress,
    port,
    timeLimitMs,
    isRefusedPeer,
  });
  if (!server.ok) return fail(`--admin-ui-port: ${server.error.message}`);
  ({ port } = server.value);
  way.value.announce?.();
  log.info({ event: "console_started", address: settings.adminUiBindAddress, port }, "console started");
  return ok({
    port,
    close: async () => void (await Promise.all([server.value.close(), explainer.close()])),
  });
}

type Way = {
  readonly check: CheckToken;
  readonly sessionMs: number;
  readonly hint: string;
  /** Called once the console listens. */
  readonly announce?: () => void;
};

function wayToSignIn({ settings, access, err }: ConsoleOptions, port: () => number): Result<Way, string> {
  const { adminUiTokenFile: file, adminUiBindAddress: address } = settings;
  if (file !== undefined) {
    return ok({
      check: checkFile(file),
      sessionMs,
      hint: "The token is in the file that --admin-ui-token-file names.",
    });
  }
  if (access !== undefined) {
    return ok({
      check: async (token, peer) => {
        const refusal = await access({
          verb: "get",
          authorization: `Bearer ${token}`,
          path: reviewedPath,
          peer,
        });
        if (refusal === undefined) return "ok";
        return refusal.status === 503 ? "unavailable" : "refused";
      },
      sessionMs: reviewedSessionMs,
      hint: `A token of a user or ServiceAccount that may get ${reviewedPath}, such as that of: kubectl create token NAME`,
    });
  }
  if (!err.isTerminal)
    return fail(
      "--admin-ui: there is no way to sign in: set --admin-ui-token-file, or --admin-auth in a cluster; without them a link is printed, on a terminal only",
    );
  const print = (token: string): void => {
    const host = address === "0.0.0.0" || address === "::" ? "127.0.0.1" : address;
    err.write(`console, valid once: http://${formatIpPort(host, port())}/sign-in?token=${token}\n`);
  };
  let isListening = false;
  let first = "";
  const check = createOneTimeTokens((token) => {
    first = token;
    if (isListening) print(token);
  });
  return ok({
    check,
    sessionMs,
    hint: "The terminal of the process shows a link, which is valid once.",
    announce() {
      isListening = true;
      print(first);
    },
  });
}

/**
 * Creates a check against the token in a file, which is read at each sign-in, so that a replaced token applies
 * immediately. A missing or short token admits no user.
 */
const checkFile =
  (path: string): CheckToken =>
  async (token, peer) => {
    const expected = (await readFile(path, "utf8").catch(() => "")).trim();
    return expected.length < minTokenLength ? "unavailable" : checkFixedToken(() => expected)(token, peer);
  };
