/** Writes Services other than backends: mirrors and error pages. */
import { noteIf, unsayable, type FeatureWriter } from "../written.ts";

/** The address `service.namespace:port` of an endpoint set `namespace/service/port`. */
function addressOf(endpoints: string | undefined): string | undefined {
  const [, namespace, name, port] = /^([^/]+)\/([^/]+)\/(\d+)$/.exec(endpoints ?? "") ?? [];
  return port === undefined ? undefined : `${name}.${namespace}:${port}`;
}

/** Whether an address is of a Service in the namespace: others must not be named. */
const isWithin = (address: string | undefined, namespace: string): address is string =>
  address?.split(/[.:]/)[1] === namespace;

export const writeMirrorTarget: FeatureWriter<"mirror-target"> = (targets, { namespace }) => {
  const [first, ...others] = targets;
  const address = addressOf(first?.endpoints);
  if (!isWithin(address, namespace) || others.length > 0 || first?.fraction !== undefined) {
    return unsayable(
      "mirror-target",
      "Requests are not copied: only a Service of the namespace can be named",
    );
  }
  return {
    annotations: { "mirror-target": address },
    notes: [
      ...noteIf(
        first?.url !== undefined,
        "mirror-target[0]",
        "changed",
        "Copies have the path, query and Host of the request, and its body up to the limit of mirrors, instead of the URL's",
      ),
    ],
  };
};

export const writeErrorPages: FeatureWriter<"error-pages"> = (
  { codes, page, ownOnly, standIn, fields },
  { namespace },
) => {
  const address = addressOf((page ?? standIn)?.endpoints);
  const isSayable = isWithin(address, namespace);
  return {
    annotations: {
      ...(codes.length > 0 && { "error-pages": codes.join(",") }),
      ...(isSayable && { "error-pages-backend": address }),
    },
    notes: [
      ...noteIf(
        !isSayable && page !== undefined,
        "error-pages.page",
        "lost",
        "The gateway answers errors itself: only a Service of the namespace can be named",
      ),
      ...noteIf(
        isSayable && standIn === undefined,
        "error-pages.standIn",
        "changed",
        "The Service of the error pages also answers while the backend has no endpoint",
      ),
      ...noteIf(
        ownOnly === true,
        "error-pages.ownOnly",
        "changed",
        "Errors of backends are replaced as well",
      ),
      ...noteIf(
        fields.length > 0,
        "error-pages.fields",
        "changed",
        "Of the fields about the Ingress, the Service of the error pages gets X-Namespace only",
      ),
    ],
  };
};
