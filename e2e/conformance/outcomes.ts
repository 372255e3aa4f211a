/** What the program of the suite prints after each test (suite/conformance_test.go). */

export type Outcome = {
  readonly test: string;
  readonly result: "passed" | "failed" | "skipped" | "unsupported" | "deselected";
  /** How long the test took, without the time for its manifests. */
  readonly seconds: number;
  /** Features that the test needs and that the GatewayClass does not have. */
  readonly missing?: readonly string[];
};

/** Reads outcomes out of output that comes in parts. */
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

/** Whether a test says something about a gateway: the suite has tests of service meshes as well. */
export const isOfGateway = ({ result, missing = [] }: Outcome): boolean =>
  result !== "deselected" && !missing.some((feature) => feature.startsWith("Mesh"));
