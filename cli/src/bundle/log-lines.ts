/** The lines of a log that a bundle holds. */
import { hideSecrets } from "../console/hide-secrets.ts";
import { cleanTexts } from "./clean-texts.ts";
import type { WithheldTexts } from "./withheld-texts.ts";

const accessTarget = "svc_proxy::access";
/** A line of the access log in the formats of web servers: `192.0.2.1 - - [27/Nov/2026:04:00:00 +0000] "GET ...`. */
const webServerLine = /^\S+ \S+ \S+ \[\d{1,2}\/[A-Z][a-z]{2}\/\d{4}:/;

/**
 * The lines of a log without those of the access log, which are about clients, and without what is withheld elsewhere. The
 * first line says how many are left out.
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

/** The target is looked for anywhere: a line that was cut at its end, or has colours, has no form. */
const isAccessLine = (line: string): boolean => line.includes(accessTarget) || webServerLine.test(line);

function cleanLine(line: string, withheld: WithheldTexts): string {
  if (!line.startsWith("{")) return withheld.clean(line);
  try {
    // Quoted texts are escaped in the line, and are what they are in the value.
    return JSON.stringify(cleanTexts(hideSecrets(JSON.parse(line)), withheld, () => true));
  } catch {
    return withheld.clean(line);
  }
}
