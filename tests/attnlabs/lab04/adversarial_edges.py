"""Answers that passed once, wrong at the edges of what a text allows only: edits of the reference."""

from edited import edited

WRONG = edited(
    "lab04",
    {
        "attentional_state": [
            {"(joined @ W_c.mT).tanh()": "(joined @ W_c.mT).tanh().squeeze(1)"},
            {"(joined @ W_c.mT)": "(joined.float() @ W_c.mT.float()).to(joined)"},
        ],
        "input_feeding_step": [{"embedded, attentional]": "embedded.squeeze(1), attentional]"}],
        "local_window_mask": [
            {"<= half_width": "<= half_width + 1e-7"},
            {"centre.clamp(min=0)": "centre.float().clamp(min=0).to(centre)"},
        ],
        "gaussian_window": [{"centre[:, None]": "centre.float()[:, None].to(centre)"}],
        "predicted_centre": [
            {"features @ v_p": "features.squeeze() @ v_p"},
            {"(hidden @ W_p.mT)": "(hidden.float() @ W_p.mT.float()).to(hidden)"},
            {"hidden @ W_p.mT": "hidden.squeeze() @ W_p.mT"},
        ],
        "location_features": [
            {"windows @ filters.mT": "(windows @ filters.mT).squeeze(1)"},
            {"windows @ filters.mT": "(windows @ filters.mT).squeeze(2)"},
            {"previous, (radius, radius))": "previous.float(), (radius, radius)).to(previous)"},
        ],
    },
)
