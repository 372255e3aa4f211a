/** The outcome that the program of the suite prints after each test (suite/conformance_test.go). */

export type Outcome = {
  readonly test: string;
  readonly result: "passed" | "failed" | "skipped" | "unsupported" | "deselected";
  /** The duration of the test, without the time for its manifests. */
  readonly seconds: number;
  /** The features that the test needs and the GatewayClass does not have. */
  readonly missing?: readonly string[];
};

/** Returns a function that accepts output in parts, and calls `onOutcome` for each outcome in it. */
export function outcomeReader(onOutcome: (outcome: Outcome) => void): (text: string) => void {
  let rest = "";
  return (text) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      if (line.startsWith('{"test":')) onOutcome(JSON.parse(line) as Outcome);
    }
  };
}

/** Whether a test concerns gateways: the suite also contains tests of service meshes. */
export const isOfGateway = ({ result, missing = [] }: Outcome): boolean =>
  result !== "deselected" && !missing.some((feature) => feature.startsWith("Mesh"));
