/** The codings of this proxy that a client accepts. */
export type AcceptedCodings = { readonly gzip: boolean; readonly br: boolean };

/**
 * Reads Accept-Encoding (RFC 9110 12.5.3). Weights do not rank the codings: any weight above 0 accepts a coding, and 0
 * or a weight that is not a number refuses it. `*` applies to the codings that are not named; `x-gzip` is gzip (RFC
 * 9110 8.4.1.3).
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
