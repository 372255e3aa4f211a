/** The codings of this proxy that a client accepts. */
export type AcceptedCodings = { readonly gzip: boolean; readonly br: boolean };

/**
 * Reads Accept-Encoding (RFC 9110 12.5.3). A weight only says yes or no here: 0 refuses the coding, anything else accepts
 * it, however small, and a weight that is no number refuses. `*` means the codings that are not named; `x-gzip` is
 * gzip (RFC 9110 8.4.1.3).
 */
export function readAcceptEncoding(value: string): AcceptedCodings {
  let gzip: boolean | undefined;
  let br: boolean | undefined;
  let any = false;
  for (const element of value.split(",")) {
    const [coding = "", ...parameters] = element.split(";");
    const isAccepted = parameters.every(isNotZero);
    switch (coding.trim().toLowerCase()) {
      case "gzip":
      case "x-gzip":
        gzip = isAccepted;
        break;
      case "br":
        br = isAccepted;
        break;
      case "*":
        any = isAccepted;
        break;
    }
  }
  return { gzip: gzip ?? any, br: br ?? any };
}

function isNotZero(parameter: string): boolean {
  const [name = "", weight = ""] = parameter.split("=");
  return name.trim().toLowerCase() !== "q" || Number(weight.trim()) > 0;
}
