import { askAdmin } from "./pods.ts";

/** The sum of all samples of a metric family with these labels, from one pod; 0 without any. */
export async function metric(
  pod: string,
  family: string,
  labels: Readonly<Record<string, string>> = {},
): Promise<number> {
  const text = await askAdmin(pod, "/metrics");
  const wanted = Object.entries(labels).map(([name, value]) => `${name}="${value}"`);
  return text
    .split("\n")
    .filter((line) => line.startsWith(`${family}{`) || line.startsWith(`${family} `))
    .filter((line) => wanted.every((label) => line.includes(label)))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" ") + 1)), 0);
}
