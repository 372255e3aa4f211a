/** The state of a check, and of a subsystem. */
export type HealthState = "Pending" | "Ready" | "Degraded";

/** The body of answers of `/api/v1/health`. */
export type HealthDocument = {
  readonly version: string;
  readonly subsystems: Readonly<
    Record<string, { readonly status: HealthState; readonly checks: Readonly<Record<string, HealthState>> }>
  >;
};

/** A part of the process that reports its checks. Every check is `Pending` until it is set. */
export type HealthSubsystem<Check extends string> = {
  /** Sets the state of a check. `why` is the text that `/readyz` shows for a check that is `Pending`. */
  set(check: Check, state: HealthState, why?: string): void;
  get(check: Check): HealthState;
};

/** The health of a process: the checks of its subsystems, and whether it is shutting down. */
export type HealthRegistry = {
  /** Adds a subsystem. A process registers its subsystems before it starts its admin servers. */
  register<const Check extends string>(subsystem: string, checks: readonly Check[]): HealthSubsystem<Check>;
  document(): HealthDocument;
  readiness(): Readiness;
  /** Makes the process not ready from now on, independent of its checks. */
  beginShutdown(): void;
};

/** Whether the process can receive traffic; if not, `waitingFor` names each reason. */
export type Readiness =
  { readonly isReady: true } | { readonly isReady: false; readonly waitingFor: readonly string[] };

/**
 * Creates the health registry of a process. A subsystem is `Pending` while any of its checks is, else `Degraded` while
 * any of them is, else `Ready`. The process is ready when it has subsystems, none is `Pending`, and it is not shutting
 * down (docs/reference/health.md).
 */
export function createHealthRegistry(version: string): HealthRegistry {
  const subsystems = new Map<string, Map<string, HealthState>>();
  const reasons = new Map<string, string>();
  let isShuttingDown = false;
  return {
    register(subsystem, checks) {
      if (subsystems.has(subsystem)) throw new Error(`health subsystem ${subsystem} is registered twice`);
      const states = new Map<string, HealthState>(checks.map((check) => [check, "Pending"]));
      subsystems.set(subsystem, states);
      return {
        set: (check, state, why) => {
          states.set(check, state);
          reasons.set(`${subsystem}/${check}`, why === undefined ? "" : `: ${why}`);
        },
        get: (check) => states.get(check) ?? "Pending",
      };
    },
    document: () => ({
      version,
      subsystems: Object.fromEntries(
        Array.from(subsystems, ([name, checks]) => [
          name,
          { status: worstOf([...checks.values()]), checks: Object.fromEntries(checks) },
        ]),
      ),
    }),
    readiness() {
      if (isShuttingDown) return { isReady: false, waitingFor: ["shutting down"] };
      if (subsystems.size === 0) return { isReady: false, waitingFor: ["no subsystem has started"] };
      const waitingFor = Array.from(subsystems).flatMap(([name, checks]) =>
        Array.from(checks).flatMap(([check, state]) =>
          state === "Pending" ? [`${name}/${check}${reasons.get(`${name}/${check}`) ?? ""}`] : [],
        ),
      );
      return waitingFor.length === 0 ? { isReady: true } : { isReady: false, waitingFor };
    },
    beginShutdown() {
      isShuttingDown = true;
    },
  };
}

function worstOf(states: readonly HealthState[]): HealthState {
  if (states.includes("Pending")) return "Pending";
  return states.includes("Degraded") ? "Degraded" : "Ready";
}
