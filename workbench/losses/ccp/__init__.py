"""Chance-constrained proxies (CCP, Gürbüz et al. 2023): the loss, its projections around the loop, and k-center."""

from workbench.losses.batch import bounded as bounded
from workbench.losses.ccp.loss import CCP as CCP
