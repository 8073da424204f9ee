"""States of a scene side by side: pictures from one view, or maps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from spacecast.sight import SceneColors, map_frame, map_picture, picture

if TYPE_CHECKING:
    from spacecast.scan import Scan, View
    from spacecast.scene import Scene

Pixels = NDArray[np.uint8]


@dataclass(frozen=True)
class BesideSettings:
    """How panels are put together (own)."""

    gap_px: int = 8
    """Between panels."""
    caption_px: int = 24
    """Height of the line above them."""
    font_px: int = 14
    max_side_px: int = 1000
    """Pictures of larger cameras are made smaller."""


SETTINGS = BesideSettings()


def before_and_after(scan: Scan, states: Sequence[Scene], caption: str, view: View | None = None) -> Pixels:
    """States of a scan, (H, W, 3) uint8: as a view's camera would see them, or else from above with names.

    Args:
        scan: where colours come from.
        states: the scene before, and after if something was done.
        caption: what was done.
        view: where they are seen from; None for maps.
    """
    from spacecast.sight import camera_of

    colors = SceneColors.from_scan(scan)
    if view is None:
        frame = map_frame(*states)
        panels = [map_picture(state, colors, frame=frame, names=True) for state in states]
    else:
        camera = camera_of(view)
        width, height = camera.intrinsics.width, camera.intrinsics.height
        if max(width, height) > SETTINGS.max_side_px:
            camera = camera.scaled_to_width(round(width * SETTINGS.max_side_px / max(width, height)))
        panels = [picture(state, camera, colors) for state in states]
    return panels[0] if len(panels) == 1 else side_by_side(panels, ["before", f"after: {caption}"])


def side_by_side(panels: Sequence[Pixels], captions: Sequence[str]) -> Pixels:
    """Panels (h, w, 3) of one height in a row, each with a line of text above; white between them."""
    height = max(panel.shape[0] for panel in panels)
    width = sum(panel.shape[1] for panel in panels) + SETTINGS.gap_px * (len(panels) - 1)
    image = Image.new("RGB", (width, height + SETTINGS.caption_px), (255, 255, 255))
    draw = ImageDraw.Draw(image)
    font = ImageFont.load_default(SETTINGS.font_px)
    left = 0
    for panel, caption in zip(panels, captions, strict=True):
        image.paste(Image.fromarray(panel), (left, SETTINGS.caption_px))
        draw.text((left + 4, 3), _fitted(caption, panel.shape[1] - 8, draw, font), fill=(20, 20, 20), font=font)
        left += panel.shape[1] + SETTINGS.gap_px
    return np.asarray(image)


def _fitted(
    text: str, width_px: int, draw: ImageDraw.ImageDraw, font: ImageFont.FreeTypeFont | ImageFont.ImageFont
) -> str:
    """The text, cut with dots where it is too long for its panel."""
    if draw.textlength(text, font=font) <= width_px:
        return text
    while text and draw.textlength(f"{text} ...", font=font) > width_px:
        text = text[:-1]
    return f"{text} ..."
