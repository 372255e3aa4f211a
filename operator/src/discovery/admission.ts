/** Runs a bounded number of tasks and lets a bounded number wait. */
export type BoundedGate = {
  /** Runs the task when there is room; returns undefined without running it if too many wait already. */
  run<Value>(task: () => Promise<Value>): Promise<Value> | undefined;
};

/** Creates a gate. Waiting tasks run in the order of their arrival. */
export function createBoundedGate(limits: {
  readonly maxRunning: number;
  readonly maxWaiting: number;
}): BoundedGate {
  const waiting: (() => void)[] = [];
  let running = 0;
  const leave = (): void => {
    const next = waiting.shift();
    if (next === undefined) running -= 1;
    else next();
  };
  const enter = (): Promise<void> => {
    if (running < limits.maxRunning) {
      running += 1;
      return Promise.resolve();
    }
    return new Promise((resolve) => waiting.push(resolve));
  };
  return {
    run(task) {
      if (running >= limits.maxRunning && waiting.length >= limits.maxWaiting) return undefined;
      return enter().then(task).finally(leave);
    },
  };
}

/**
 * Allows at most `maxPerWindow` calls within any window, so that a flood of causes does not become a flood of effects.
 */
export function createRateCap(options: {
  readonly maxPerWindow: number;
  readonly windowMs: number;
  readonly nowMs: () => number;
}): () => boolean {
  const granted: number[] = [];
  return () => {
    const nowMs = options.nowMs();
    const [oldest] = granted;
    if (granted.length >= options.maxPerWindow) {
      if (oldest !== undefined && nowMs - oldest < options.windowMs) return false;
      granted.shift();
    }
    granted.push(nowMs);
    return true;
  };
}
