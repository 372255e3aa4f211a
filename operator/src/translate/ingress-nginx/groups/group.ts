/** The input and output of the translation of a group of annotations. README.md describes how to add a group. */
import type { RouteFeatures } from "@svc-gateway/common/features/registry.ts";
import type { HostPattern } from "@svc-gateway/common/ir/keys.ts";
import type { PathMatch } from "@svc-gateway/common/ir/match.ts";
import type { Resource } from "@svc-gateway/common/ir/resource.ts";
import type { Backend, Route } from "@svc-gateway/common/ir/route.ts";
import type { ObjectOf } from "../../../api/kinds.ts";
import type { EndpointRef } from "../../backends/service-port.ts";
import type { Place } from "../../diagnostics/define-finding.ts";
import type { AnnotationReader } from "../../features/annotation-reader.ts";
import type { Diagnostic } from "../../finding.ts";
import type { BackendRef } from "../../ingress/parse.ts";
import type { View } from "../../incremental/view.ts";
import type { NginxAnnotation } from "../annotations/declare.ts";
import type { NginxClass } from "../class.ts";
import type { HostFacts, HostWishes } from "../host-facts.ts";
import type { ClosingFinding, NginxReader } from "../reader.ts";
import type { Outcome, Verdict } from "../report.ts";
import type { RegexPath } from "../regex-path.ts";

/** A path of the Ingress, or its default backend. */
export type NginxPath = {
  readonly host: HostPattern;
  readonly match: PathMatch;
  /** The path as written. */
  readonly written: string;
  /** `spec.rules[].http.paths[].pathType` as written. */
  readonly pathType: string | undefined;
  readonly isDefaultBackend: boolean;
  /** The Service that the path names; undefined if it names none that can be read. */
  readonly backend: BackendRef | undefined;
};

type Named = Pick<NginxAnnotation, "name">;

/** The means of a group to look up objects, report, and provide resources, besides reading annotations. */
export type GroupContext = View & {
  readonly ingress: ObjectOf<"Ingress">;
  readonly namespace: string;
  readonly nginx: NginxClass;
  /** Reads annotations of this gateway, for settings about which one of them decides. */
  readonly own: AnnotationReader;
  /** Whether ExternalName Services may be backends. */
  readonly allowExternalName: boolean;
  /** The port at which clients reach the HTTPS listener of Ingresses. */
  readonly httpsPublicPort: number;
  /** Whether the Ingress has the annotation with a value that is not blank, even if the value cannot be read. */
  readonly isWritten: (annotation: Named) => boolean;
  /** The route of `--ingress-default-backend`. */
  readonly lastResort: Route | undefined;
  /**
   * Answers every request to the paths of the Ingress 503, because it could not be protected as the annotation
   * requests.
   */
  readonly close: (annotation: Named, why: string, finding?: ClosingFinding) => void;
  /**
   * Reports a protection that ingress-nginx provides and that this gateway does not support. Closes the paths
   * like `close`, unless the class serves such Ingresses (`whenUnprotected`). Use `close` for everything that
   * ingress-nginx closes as well.
   */
  readonly cannotProtect: (annotation: Named, why: string, finding?: ClosingFinding) => void;
  /** Reports that the hosts of the Ingress answer every request 403. The group itself must make them do so. */
  readonly closeHost: (annotation: Named, why: string, finding?: ClosingFinding) => void;
  /** Reports a value that ingress-nginx ignores as well. `why` names the value and what is expected. */
  readonly ignore: (annotation: Named, why: string) => void;
  /** Reports a difference from ingress-nginx. */
  readonly differs: (annotation: Named, how: string) => void;
  /** Reports a setting without effect, in ingress-nginx as well. It is an error if its author intended protection. */
  readonly noEffect: (annotation: Named, why: string, severity?: "warning" | "error") => void;
  /** Reports another kind of finding about an annotation, which can set its verdict. */
  readonly report: (
    annotation: Named,
    finding: (place: Place) => Diagnostic,
    verdict?: Pick<Verdict, "outcome" | "text">,
  ) => void;
  /** Sets the verdict of an annotation that has no finding. */
  readonly judge: (annotation: Named, outcome: Outcome, text: string) => void;
  /**
   * Reports that some paths of the Ingress are answered 503 instead of being protected as the annotation requests.
   */
  readonly closePaths: (annotation: Named, why: string, paths: string) => void;
  /**
   * Reports an invalid value that is used in part, or more strictly than in ingress-nginx. `why` includes the
   * consequence.
   */
  readonly usePartly: (annotation: Named, why: string) => void;
  /** Adds a Service port whose endpoints are used. */
  readonly useEndpoints: (endpointRef: EndpointRef) => void;
  /** Adds a resource that routes refer to. */
  readonly provide: (resource: Resource) => void;
};

/**
 * The contribution of a group to the plan of an Ingress. Contributions of several groups to one feature are joined.
 */
export type GroupOutput = {
  /** Features of every route. */
  readonly features?: RouteFeatures | undefined;
  /** Features of the route of a path. */
  readonly ofPath?: (path: NginxPath) => RouteFeatures | undefined;
  /** Features of the route of a path that depend on the whole host. */
  readonly onHost?: (path: NginxPath, facts: HostFacts) => RouteFeatures | undefined;
  /** Changes each backend of a path. */
  readonly backend?: (backend: Backend, path: NginxPath) => Backend;
  /** Changes each backend of a path of a canary, on which few annotations count. */
  readonly ofCanary?: (backend: Backend, path: NginxPath) => Backend;
  /** Changes the route of a path, after all features. */
  readonly route?: (route: Route, path: NginxPath) => Route;
  /** Returns the path as regular expressions, for hosts that have regular expressions. */
  readonly asRegex?: (path: NginxPath) => RegexPath;
  /** The settings that the Ingress requests for each of its hosts as a whole. */
  readonly host?: HostWishes;
};

export type Group = (read: NginxReader, context: GroupContext) => GroupOutput;
