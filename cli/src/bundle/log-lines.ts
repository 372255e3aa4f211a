/** Selects and cleans the lines of a log for a bundle. */
import { hideSecrets } from "../console/hide-secrets.ts";
import { cleanTexts } from "./clean-texts.ts";
import type { WithheldTexts } from "./withheld-texts.ts";

const accessTarget = "svc_proxy::access";
/** A line of the access log in the formats of web servers: `192.0.2.1 - - [27/Nov/2026:04:00:00 +0000] "GET ...`. */
const webServerLine = /^\S+ \S+ \S+ \[\d{1,2}\/[A-Z][a-z]{2}\/\d{4}:/;

/**
 * Returns a log without the lines of the access log, which are about clients, and without texts that are withheld
 * elsewhere. If lines are omitted, the first line contains their number.
 */
export function linesOfLog(text: string, withheld: WithheldTexts): string {
  const kept: string[] = [];
  let accessLines = 0;
  for (const line of text.split("\n")) {
    if (line === "") continue;
    if (isAccessLine(line)) accessLines++;
    else kept.push(cleanLine(line, withheld));
  }
  const head = accessLines === 0 ? [] : [`[${accessLines} lines of the access log are left out]`];
  return [...head, ...kept].map((line) => `${line}\n`).join("");
}

/** Whether a line is of the access log. The target can be anywhere: truncated or coloured lines cannot be parsed. */
const isAccessLine = (line: string): boolean => line.includes(accessTarget) || webServerLine.test(line);

function cleanLine(line: string, withheld: WithheldTexts): string {
  if (!line.startsWith("{")) return withheld.clean(line);
  try {
    // Texts are escaped in the line, so they are compared in the parsed value.
    return JSON.stringify(cleanTexts(hideSecrets(JSON.parse(line)), withheld, () => true));
  } catch {
    return withheld.clean(line);
  }
}
