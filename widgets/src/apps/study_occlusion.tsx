// The picture of an image occlusion under its masks.

import { JSX } from "preact";
import { t } from "./state";

export interface Region {
  shape: string;
  left: number;
  top: number;
  width: number;
  height: number;
  points: [number, number][];
  asked: boolean;
  hidden: boolean;
}

export interface Occlusion {
  image?: string | null;
  regions: Region[];
}

/** Masks over `picture`: the question hides all `hidden` regions, the answer shows the asked one. */
export function Masked({ occlusion, answer, picture }: { occlusion: Occlusion; answer: boolean; picture: JSX.Element }): JSX.Element {
  const drawn = occlusion.regions.filter((region) => region.asked || region.hidden);
  return (
    <span class="masked">
      {picture}
      <svg viewBox="0 0 1 1" preserveAspectRatio="none" role="img" aria-label={answer ? t("The region that was asked for", "ส่วนที่ถาม") : t("What is under the marked region?", "ใต้ส่วนที่ทำเครื่องหมายคืออะไร")}>
        {drawn.map((region, place) => outline(region, `${region.asked ? "asked" : "other"}${answer && region.asked ? " shown" : ""}`, place))}
      </svg>
    </span>
  );
}

function outline(region: Region, name: string, key: number): JSX.Element {
  const { left, top, width, height } = region;
  if (region.shape === "polygon") return <polygon key={key} class={name} points={region.points.map(([x, y]) => `${x},${y}`).join(" ")} />;
  if (region.shape === "ellipse") return <ellipse key={key} class={name} cx={left + width / 2} cy={top + height / 2} rx={width / 2} ry={height / 2} />;
  return <rect key={key} class={name} x={left} y={top} width={width} height={height} />;
}
